package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// session contains the clients of one program. Its table, queue and container exist and are used by no other program.
type session struct {
	ctx       context.Context
	options   azcore.ClientOptions // for further clients
	tablesURL string
	name      string // of the table, the queue and the container
	tables    *aztables.ServiceClient
	table     *aztables.Client
	queues    *azqueue.ServiceClient
	queue     *azqueue.QueueClient
	blobs     *azblob.Client
	container *container.Client

	failed []error // nil errors are none
}

// program is one case that uses the Go SDKs. run reports to the session if a result is not as documented.
type program struct {
	name string
	run  func(s *session)
}

// ended is the panic that ends a program.
type ended struct{}

// failure returns what a program reports to its session.
func (p program) failure(s *session) (err error) {
	defer func() {
		if cause := recover(); cause != nil && cause != (ended{}) {
			panic(cause)
		}
		err = errors.Join(s.failed...)
	}()
	p.run(s)
	return nil
}

// Helper, Errorf and Fatalf make a session an [assert.T].
func (s *session) Helper() {}

func (s *session) Errorf(format string, args ...any) { s.check(fmt.Errorf(format, args...)) }

func (s *session) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	panic(ended{})
}

// check reports the errors that are not nil.
func (s *session) check(errs ...error) { s.failed = append(s.failed, errs...) }

func TestGoSDKs(t *testing.T) {
	var programs []program
	names := map[string]int{}
	for _, part := range [][]program{tablePrograms, transactionPrograms, queuePrograms, blobPrograms} {
		for _, p := range part {
			if names[p.name]++; names[p.name] > 1 {
				t.Errorf("two programs have the name %q", p.name)
			}
			programs = append(programs, p)
		}
	}
	run := func(t *testing.T, connection string, options azcore.ClientOptions, differs []difference) {
		listed := map[string]difference{}
		for _, d := range differs {
			listed[d.name] = d
		}
		for _, p := range programs {
			t.Run(p.name, func(t *testing.T) {
				err := p.failure(open(t, connection, options))
				d, ok := listed[p.name]
				switch {
				case !ok && err != nil:
					t.Error(err)
				case ok && err == nil:
					t.Error("listed as different, but it is not")
				case ok && !strings.Contains(err.Error(), d.got):
					t.Errorf("%v, listed as %s", err, d.got)
				}
			})
		}
	}
	t.Run("storagetest", func(t *testing.T) {
		acct := storagetest.New(t)
		run(t, acct.ConnectionString(), azcore.ClientOptions{Transport: acct.Transport()}, nil)
	})
	t.Run("azurite", func(t *testing.T) {
		run(t, azurite.Shared(t).ConnectionString(), azcore.ClientOptions{}, sdkDifferences)
	})
	checkDifferences(t, sdkDifferences, names)
}

func open(t *testing.T, connection string, options azcore.ClientOptions) *session {
	t.Helper()
	options.Retry = policy.RetryOptions{MaxRetries: 1, RetryDelay: time.Millisecond}
	s := &session{ctx: t.Context(), options: options, name: "s" + strings.ToLower(rand.Text())}
	_, address, _ := strings.Cut(connection, ";TableEndpoint=")
	address, _, _ = strings.Cut(address, ";")
	s.tablesURL = strings.TrimSuffix(address, "/")
	s.tables = assert.Must(aztables.NewServiceClientFromConnectionString(connection, &aztables.ClientOptions{ClientOptions: options}))(t)
	s.queues = assert.Must(azqueue.NewServiceClientFromConnectionString(connection, &azqueue.ClientOptions{ClientOptions: options}))(t)
	s.blobs = assert.Must(azblob.NewClientFromConnectionString(connection, &azblob.ClientOptions{ClientOptions: options}))(t)
	s.table = s.tables.NewClient(s.name)
	s.queue = s.queues.NewQueueClient(s.name)
	s.container = s.blobs.ServiceClient().NewContainerClient(s.name)
	for what, create := range map[string]func() error{
		"table":     func() error { _, err := s.table.CreateTable(s.ctx, nil); return err },
		"queue":     func() error { _, err := s.queue.Create(s.ctx, nil); return err },
		"container": func() error { _, err := s.container.Create(s.ctx, nil); return err },
	} {
		assert.NoError(t, create(), "the", what)
	}
	t.Cleanup(func() { // an error means that the program has deleted it
		_, _ = s.table.Delete(context.Background(), nil)
		_, _ = s.queue.Delete(context.Background(), nil)
		_, _ = s.container.Delete(context.Background(), nil)
	})
	return s
}

// refused returns nil if err is an error of the service with this status and code.
func refused(err error, status int, code string) error {
	var refusal *azcore.ResponseError
	if !errors.As(err, &refusal) {
		return fmt.Errorf("%w, want an error of the service with %d %s", orNothing(err), status, code)
	}
	if refusal.StatusCode != status || refusal.ErrorCode != code {
		return fmt.Errorf("refused with %d %s, want %d %s", refusal.StatusCode, refusal.ErrorCode, status, code)
	}
	return nil
}

// refusedWith returns nil if err is an error of the service with this code in its text.
func refusedWith(err error, code aztables.TableErrorCode) error {
	var refusal *azcore.ResponseError
	if !errors.As(err, &refusal) {
		return fmt.Errorf("%w, want a refusal", orNothing(err))
	}
	return same("the code is in the text", strings.Contains(refusal.Error(), string(code)), true)
}

func orNothing(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}

// same returns an error if got differs from want.
func same(what string, got, want any) error {
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%s: %v, want %v", what, got, want)
	}
	return nil
}

// numbered inserts n rows into a partition, in transactions.
func numbered(s *session, pk string, n int) {
	var actions []aztables.TransactionAction
	for i := range n {
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: entity(pk, fmt.Sprintf("%04d", i), map[string]any{"N": i})})
		if len(actions) == 100 || i == n-1 {
			assert.NoError(s, assert.ErrorOf(s.table.SubmitTransaction(s.ctx, actions, nil)))
			actions = nil
		}
	}
}

var transactionPrograms = []program{
	{"a transaction of every kind", func(s *session) {
		for _, rk := range []string{"1", "2", "3", "4"} {
			s.put("p", rk, map[string]any{"A": 1})
		}
		b := map[string]any{"B": 2}
		_, err := s.table.SubmitTransaction(s.ctx, []aztables.TransactionAction{
			{ActionType: aztables.TransactionTypeAdd, Entity: entity("p", "0", b)},
			{ActionType: aztables.TransactionTypeUpdateMerge, Entity: entity("p", "1", b), IfMatch: to.Ptr(azcore.ETagAny)},
			{ActionType: aztables.TransactionTypeUpdateReplace, Entity: entity("p", "2", b), IfMatch: to.Ptr(azcore.ETagAny)},
			{ActionType: aztables.TransactionTypeInsertMerge, Entity: entity("p", "3", b)},
			{ActionType: aztables.TransactionTypeDelete, Entity: entity("p", "4", nil)},
			{ActionType: aztables.TransactionTypeInsertReplace, Entity: entity("p", "5", b)},
		}, nil)
		assert.NoError(s, err)
		keys, _ := s.rows("B eq 2", 0)
		kept, _ := s.rows("A eq 1", 0)
		s.check(same("changed", keys, []string{"p/0", "p/1", "p/2", "p/3", "p/5"}), same("merged", kept, []string{"p/1", "p/3"}))
	}},
	{"a transaction of 100", func(s *session) {
		numbered(s, "p", 100)
		keys, _ := s.rows("", 0)
		s.check(same("rows", len(keys), 100))
	}},
	{"a transaction of 101", func(s *session) {
		var actions []aztables.TransactionAction
		for i := range 101 {
			actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: entity("p", fmt.Sprint(i), nil)})
		}
		_, err := s.table.SubmitTransaction(s.ctx, actions, nil)
		s.check(refusedWith(err, aztables.InvalidInput))
	}},
	{"a transaction that fails changes nothing", func(s *session) {
		s.put("p", "there", nil)
		_, err := s.table.SubmitTransaction(s.ctx, []aztables.TransactionAction{
			{ActionType: aztables.TransactionTypeAdd, Entity: entity("p", "new", nil)},
			{ActionType: aztables.TransactionTypeAdd, Entity: entity("p", "there", nil)},
		}, nil)
		keys, _ := s.rows("", 0)
		s.check(same("rows", keys, []string{"p/there"}), refusedWith(err, aztables.EntityAlreadyExists))
	}},
	{"a transaction of two partitions", func(s *session) {
		_, err := s.table.SubmitTransaction(s.ctx, []aztables.TransactionAction{
			{ActionType: aztables.TransactionTypeAdd, Entity: entity("p", "1", nil)},
			{ActionType: aztables.TransactionTypeAdd, Entity: entity("q", "1", nil)},
		}, nil)
		if err == nil {
			s.Fatalf("it was taken")
		}
		keys, _ := s.rows("", 0)
		s.check(same("rows", len(keys), 0))
	}},
}
