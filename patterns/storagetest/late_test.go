package storagetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// once are client options without retries.
func once() *aztables.ClientOptions {
	var o aztables.ClientOptions
	o.Retry.MaxRetries = -1
	return &o
}

func TestALateRequestIsCarriedOutInEveryService(t *testing.T) {
	ctx := t.Context()
	acct := storagetest.New(t)
	people := table(t, acct, "people")
	jobs, box := acct.Queue("jobs"), acct.Container("box")
	assert.NoError(t, assert.ErrorOf(jobs.Create(ctx, nil)))
	assert.NoError(t, assert.ErrorOf(box.Create(ctx, nil)))
	acct.Fault(
		storagetest.On("Table.Batch").Nth(1).LateRequest(time.Hour, time.Hour),
		storagetest.On("Queue.Put").Nth(1).LateRequest(time.Hour, time.Hour),
		storagetest.On("Blob.Put").Nth(1).LateRequest(time.Hour, time.Hour),
	)
	// The retry of the SDK is carried out, and then the first attempt arrives.
	if _, err := people.SubmitTransaction(ctx, []aztables.TransactionAction{{ActionType: aztables.TransactionTypeAdd, Entity: entity(t, "p", "r")}}, nil); err != nil {
		t.Error(err)
	}
	assert.Equal(t, assert.ErrorOf(jobs.EnqueueMessage(ctx, "pay", nil)), nil)
	assert.Equal(t, assert.ErrorOf(box.NewBlockBlobClient("b").UploadBuffer(ctx, []byte("content"), &azblob.UploadBufferOptions{})), nil)
	assert.Equal(t, acct.Arrive(), 3, "late requests")
	for op, want := range map[string]string{"Table.Batch": "EntityAlreadyExists", "Queue.Put": "", "Blob.Put": ""} {
		log := acct.Log().Only(op)
		var lost *storagetest.LostError
		if q := log[0]; len(log) != 2 || q.Code != want || !q.Sent || !errors.As(q.Err, &lost) || !strings.HasSuffix(q.Fault, ".Arrived") {
			t.Errorf("%v", log)
		}
	}
	if got, err := jobs.GetProperties(ctx, nil); err != nil || *got.ApproximateMessagesCount != 2 {
		t.Errorf("the message is not stored twice: %v", err)
	}
}

func TestALateInsertRestoresADeletedRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const skew = time.Hour
		acct := storagetest.Start(&storagetest.Options{ClockSkew: skew})
		people := table(t, acct, "people")
		acct.Fault(storagetest.On("Table.Insert").Nth(1).LateRequest(time.Minute, time.Minute))
		start := time.Now().Add(skew)
		assert.NoError(t, assert.ErrorOf(people.AddEntity(t.Context(), entity(t, "p", "r"), nil)))
		assert.NoError(t, assert.ErrorOf(people.DeleteEntity(t.Context(), "p", "r", nil)))
		time.Sleep(10 * time.Hour)
		got := assert.Must(people.GetEntity(t.Context(), "p", "r", nil))(t)
		var row struct{ Timestamp time.Time }
		if err := json.Unmarshal(got.Value, &row); err != nil || !row.Timestamp.Equal(start.Add(time.Minute)) {
			t.Errorf("it was carried out at %v, want %v: %v", row.Timestamp, start.Add(time.Minute), err)
		}
	})
}

func TestALateRequestIsRefusedOnceItsSignatureIsTooOld(t *testing.T) {
	for delay, status := range map[time.Duration]int{15 * time.Minute: http.StatusCreated, 15*time.Minute + 2*time.Second: http.StatusForbidden} {
		synctest.Test(t, func(t *testing.T) {
			acct := storagetest.New(t)
			table(t, acct, "people")
			acct.Fault(storagetest.On("Table.Insert").LateRequest(delay, delay))
			people := acct.TablesWith(once()).NewClient("people")
			assert.Failed(t, assert.ErrorOf(people.AddEntity(t.Context(), entity(t, "p", "r"), nil)), "the sender received a reply")
			time.Sleep(time.Hour)
			put(t, people, "p", "other")
			if q := acct.Log()[0]; q.Status != status {
				t.Errorf("after %v: %v", delay, q)
			}
		})
	}
}

func TestALateRequestArrivesThroughASocket(t *testing.T) {
	acct := storagetest.New(t)
	table(t, acct, "people")
	server := assert.Must(acct.Serve())(t)
	script := storagetest.Wrap(http.DefaultClient, nil)
	assert.NoError(t, script.Fault(storagetest.On("Table.Insert").LateRequest(0, 0)))
	opts := once()
	opts.Transport = script
	tables, err := aztables.NewServiceClientFromConnectionString(server.ConnectionString(), opts)
	assert.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = tables.NewClient("people").AddEntity(ctx, entity(t, "p", "r"), nil)
	cancel()
	if err == nil || acct.Log().Count("Table.Insert") != 0 {
		t.Errorf("%v\n%v", err, acct.Log())
	}
	if _, err := tables.NewClient("people").GetEntity(t.Context(), "p", "r", nil); err != nil {
		t.Errorf("%v\n%v", err, script.Log())
	}
}

// The recovery of the child removes the intent of a row that is not there yet.
func TestALateCrashFindsARecoveryThatAnInsertOvertakes(t *testing.T) {
	out := inChild(t, "TestChildHastyRecovery")
	for _, want := range []string{
		"--- PASS: TestChildHastyRecovery/before_2_Table.Insert ",
		"--- PASS: TestChildHastyRecovery/after_2_Table.Insert ",
		"--- FAIL: TestChildHastyRecovery/late_2_Table.Insert ",
		"the scenario, killed late 2 Table.Insert:",
		"fault .Killed.Arrived",
		"the row exists without its intent",
	} {
		assert.Contains(t, out, want, "go test does not print")
	}
	if strings.Contains(out, "/late_1_Table.Get") {
		t.Error("a read arrives late")
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestChildHastyRecovery(t *testing.T) {
	if os.Getenv(mustFail) == "" {
		t.Skip("must fail; TestALateCrashFindsARecoveryThatAnInsertOvertakes runs it in a child process")
	}
	exists := func(ctx context.Context, acct *storagetest.Account, rk string) bool {
		_, err := acct.Tables().NewClient("people").GetEntity(ctx, "p", rk, nil)
		return err == nil
	}
	storagetest.CrashPointsWith(t, func(ctx context.Context, acct *storagetest.Account) error {
		people := acct.Tables().NewClient("people")
		if _, err := people.CreateTable(ctx, nil); err != nil {
			return err
		}
		if _, err := people.AddEntity(ctx, entity(t, "p", "intent"), nil); err != nil {
			return err
		}
		acct.Arm()
		exists(ctx, acct, "row")
		_, err := people.AddEntity(ctx, entity(t, "p", "row"), nil)
		return err
	}, func(t *testing.T, acct *storagetest.Account) {
		if exists(t.Context(), acct, "row") && !exists(t.Context(), acct, "intent") {
			t.Error("the row exists without its intent")
		}
	}, &storagetest.CrashOptions{Recover: func(ctx context.Context, acct *storagetest.Account) error {
		if exists(ctx, acct, "row") {
			return nil
		}
		// The row was not inserted, so the intent is removed.
		if _, err := acct.Tables().NewClient("people").DeleteEntity(ctx, "p", "intent", nil); err != nil && !missing(err) {
			return err
		}
		return nil
	}})
}

func TestNoRequestArrivesLateIfInFlightIsNegative(t *testing.T) {
	runs, checks := 0, 0
	storagetest.CrashPointsWith(t, func(ctx context.Context, acct *storagetest.Account) error {
		runs++
		return create(ctx, acct, "people")
	}, func(*testing.T, *storagetest.Account) { checks++ }, &storagetest.CrashOptions{InFlight: -1})
	assert.Equal(t, runs, 4)
	assert.Equal(t, checks, 4)
}

func TestTheRequestInFlightArrivesWhileCheckWaits(t *testing.T) {
	var seen []string
	storagetest.CrashPointsWith(t, func(ctx context.Context, acct *storagetest.Account) error {
		return create(ctx, acct, "people")
	}, func(t *testing.T, acct *storagetest.Account) {
		found := ""
		for _, wait := range []time.Duration{0, 9 * time.Minute, time.Minute} {
			time.Sleep(wait)
			_, err := acct.Tables().NewClient("people").GetEntity(t.Context(), "p", "r", nil)
			found += fmt.Sprint(err == nil || !strings.Contains(err.Error(), "TableNotFound"), " ")
		}
		seen = append(seen, found)
	}, &storagetest.CrashOptions{InFlight: 10 * time.Minute, Account: &storagetest.Options{Seed: 1}})
	// Late is the fourth run, with one check.
	assert.Equal(assert.Now(t), len(seen), 5)
	assert.Equal(t, seen[3], "false false true ")
}
