package patterns_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Without the policy the tries are counted by the connections that net/http reports.
// A transport that reports none must not make an answer surer than it is.
func TestTransportsThatReportNoConnectionsAreDoubted(t *testing.T) {
	lose := 0
	wrap := func(inner policy.Transporter) transport {
		return func(req *http.Request) (*http.Response, error) {
			deaf := httptrace.WithClientTrace(withoutTrace{req.Context()}, &httptrace.ClientTrace{})
			resp, err := inner.Do(req.WithContext(deaf))
			if req.Method == http.MethodPost && lose > 0 {
				lose--
				return nil, errors.New("reply lost")
			}
			return resp, err
		}
	}
	through(t, wrap, func(t *testing.T, client *aztables.Client, _ *storagetest.Account) {
		table := newTable(t, client, &patterns.TableOptions[counter]{StampWrites: true})
		for row := range 2 {
			lose = row
			if _, err := table.Insert(t.Context(), &counter{"hits", fmt.Sprint(row), 1}); err != nil {
				t.Errorf("reply lost %d times: %v", row, err)
			}
			_, err := table.Insert(t.Context(), &counter{"hits", fmt.Sprint(row), 1})
			if !errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrOutcomeUnknown) {
				t.Errorf("the stamps say that it is another's: %v", err)
			}
		}
	})
}

// withoutTrace hides the client trace of a context.
type withoutTrace struct{ context.Context }

func (c withoutTrace) Value(key any) any {
	v := c.Context.Value(key)
	if _, ok := v.(*httptrace.ClientTrace); ok {
		return nil
	}
	return v
}

// What never left the machine has a known outcome: nothing was done.
func TestUnsentWritesAreNotInDoubt(t *testing.T) {
	v := counter{"hits", "0", 1}
	failed := func(t *testing.T, client *aztables.Client) {
		t.Helper()
		table := newTable[counter](t, client, nil)
		_, insertErr := table.Insert(t.Context(), &v)
		_, batchErr := table.Batch().Insert(&v).Commit(t.Context())
		for what, err := range map[string]error{"insert": insertErr, "batch": batchErr, "delete": table.Delete(t.Context(), tally, "")} {
			if err == nil || errors.Is(err, patterns.ErrOutcomeUnknown) {
				t.Errorf("%s: got %v", what, err)
			}
		}
	}
	for mode, accelerate := range map[string]bool{"plain": false, "accelerated": true} {
		t.Run(mode, func(t *testing.T) {
			options := func() *aztables.ClientOptions {
				o := &aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Retry: policy.RetryOptions{RetryDelay: time.Microsecond, MaxRetryDelay: time.Microsecond}}}
				if accelerate {
					o = patterns.Accelerate(o)
				}
				return o
			}
			t.Run("no credential", func(t *testing.T) {
				service, err := aztables.NewServiceClient("https://nowhere.table.storagetest.invalid", brokenCredential{}, options())
				if err != nil {
					t.Fatal(err)
				}
				failed(t, service.NewClient("T"))
			})
			t.Run("nobody listens", func(t *testing.T) {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				address := l.Addr().String()
				l.Close()
				service, err := aztables.NewServiceClientWithNoCredential("http://"+address+"/acct", options())
				if err != nil {
					t.Fatal(err)
				}
				failed(t, service.NewClient("T"))
			})
		})
	}
}

type brokenCredential struct{}

func (brokenCredential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{}, credentialError{}
}

type credentialError struct{}

func (credentialError) Error() string { return "no token" }
func (credentialError) NonRetriable() {}

// The same over sockets: net/http reports each try, and a reply lost there is found out.
func TestLostReplyOverSockets(t *testing.T) {
	acct := storagetest.New(t)
	server, err := acct.Serve()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	before := http.DefaultTransport.(*http.Transport).Clone()
	defer before.CloseIdleConnections()
	for mode, accelerate := range map[string]bool{"plain": false, "accelerated": true} {
		t.Run(mode, func(t *testing.T) {
			name := testbed.UniqueName()
			client := open(t, server.ConnectionString(), name, accelerate, &http.Client{Transport: before})
			table := newTable[counter](t, client, nil)
			if err := table.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			acct.ClearFaults()
			acct.Fault(storagetest.On("Table.Insert").Nth(1).LoseReply())
			acct.ResetLog()
			item, err := table.Insert(t.Context(), &counter{"hits", "0", 1})
			if err != nil {
				t.Fatal(err)
			}
			if got := get(t, table, tally); got.ETag != item.ETag {
				t.Errorf("ETag %q returned, %q stands there", item.ETag, got.ETag)
			}
			acct.ClearFaults()
			_, err = table.Insert(t.Context(), &counter{"hits", "0", 1})
			wantError(t, err, patterns.ErrExists) // one try, one answer: no doubt
			want := []string{"Table.Insert", "Table.Insert", "Table.Get", "Table.Get", "Table.Insert"}
			if got := fmt.Sprint(acct.Log().Ops()); got != fmt.Sprint(want) {
				t.Errorf("sent %v", got)
			}
			_, err = table.Get(t.Context(), keys.Key{Partition: "hits", Row: "none"})
			wantError(t, err, patterns.ErrNotFound)
		})
	}
}

// A try that got no answer may still be carried out after the row was looked at.
func TestATryStillUnderWayIsNotRuledOut(t *testing.T) {
	for what, refused := range map[string]bool{"no try is answered": false, "all but the first are refused": true} {
		t.Run(what, func(t *testing.T) { tryStillUnderWay(t, refused) })
	}
}

func tryStillUnderWay(t *testing.T, refused bool) {
	var late func()
	hold, held := false, 0
	wrap := func(inner policy.Transporter) transport {
		return func(req *http.Request) (*http.Response, error) {
			if !hold || req.Method == http.MethodGet {
				return inner.Do(req)
			}
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return nil, err
			}
			if held++; held > 1 && refused {
				return inner.Do(req)
			}
			fault.Announce(req)
			late = func() {
				req.Body = io.NopCloser(bytes.NewReader(body))
				try(inner.Do(req.WithContext(context.Background())))
			}
			return nil, errors.New("connection reset")
		}
	}
	through(t, wrap, func(t *testing.T, client *aztables.Client, acct *storagetest.Account) {
		table := newTable(t, client, &patterns.TableOptions[counter]{StampWrites: true})
		insert(t, table, counter{"hits", "0", 1})
		hold, held = true, 0
		acct.Fault(storagetest.On("Table.Replace").Times(3).Status(http.StatusServiceUnavailable, "ServerBusy"))
		_, err := table.Update(t.Context(), tally, addOne)
		hold = false
		acct.ClearFaults()
		late()
		wantError(t, err, patterns.ErrOutcomeUnknown)
		if got := get(t, table, tally).Value.N; got != 2 {
			t.Errorf("the late try was not carried out: %d", got)
		}
	})
}
