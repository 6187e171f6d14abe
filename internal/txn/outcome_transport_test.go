package txn_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Without the policy, tries are counted by the connections that net/http reports. A
// transport may report none.
func TestOutcomesAreCorrectIfTheTransportReportsNoConnections(t *testing.T) {
	lose := 0
	wrap := func(inner policy.Transporter) harness.Transport {
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
	harness.RunThrough(t, wrap, func(t *testing.T, client *aztables.Client, _ *storagetest.Account) {
		table := harness.NewTable(t, client, &patterns.TableOptions[counter]{StampWrites: true})
		for row := range 2 {
			lose = row
			assert.Equal(t, assert.ErrorOf(table.Insert(t.Context(), &counter{"hits", fmt.Sprint(row), 1})), nil, "reply lost", row, "times")
			_, err := table.Insert(t.Context(), &counter{"hits", fmt.Sprint(row), 1})
			accelerated := strings.HasSuffix(t.Name(), "accelerated")
			if errors.Is(err, patterns.ErrExists) != accelerated || errors.Is(err, patterns.ErrOutcomeUnknown) == accelerated {
				t.Errorf("only the policy counts the attempts, and no row can rule out an insert: %v", err)
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

// The requests fail before they are sent.
func TestAWriteThatWasNotSentHasAKnownOutcome(t *testing.T) {
	v := counter{"hits", "0", 1}
	failed := func(t *testing.T, client *aztables.Client) {
		t.Helper()
		table := harness.NewTable[counter](t, client, nil)
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
					patterns.Accelerate(&o.ClientOptions)
				}
				return o
			}
			t.Run("no credential", func(t *testing.T) {
				service := assert.Must(aztables.NewServiceClient("https://nowhere.table.storagetest.invalid", brokenCredential{}, options()))(t)
				failed(t, service.NewClient("T"))
			})
			t.Run("no listener", func(t *testing.T) {
				l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
				address := l.Addr().String()
				l.Close()
				service := assert.Must(aztables.NewServiceClientWithNoCredential("http://"+address+"/acct", options()))(t)
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

// net/http reports each try.
func TestALostReplyOverSocketsIsResolved(t *testing.T) {
	acct := storagetest.New(t)
	server := assert.Must(acct.Serve())(t)
	defer server.Close()
	before := http.DefaultTransport.(*http.Transport).Clone()
	defer before.CloseIdleConnections()
	for mode, accelerate := range map[string]bool{"plain": false, "accelerated": true} {
		t.Run(mode, func(t *testing.T) {
			name := harness.UniqueName()
			client := harness.Open(t, server.ConnectionString(), name, accelerate, &http.Client{Transport: before})
			table := harness.NewTable(t, client, &patterns.TableOptions[counter]{StampWrites: true})
			assert.NoError(t, table.Create(t.Context()))
			acct.ClearFaults()
			acct.Fault(storagetest.On("Table.Insert").Nth(1).LoseReply())
			acct.ResetLog()
			item, err := table.Insert(t.Context(), &counter{"hits", "0", 1})
			assert.NoError(t, err)
			assert.Equal(t, harness.Get(t, table, tally).ETag, item.ETag, "ETag", "returned, the row has")
			acct.ClearFaults()
			_, err = table.Insert(t.Context(), &counter{"hits", "0", 1})
			assert.WantError(t, err, patterns.ErrExists) // one try with a response
			want := []string{"Table.Insert", "Table.Insert", "Table.Get", "Table.Get", "Table.Insert"}
			assert.Equal(t, fmt.Sprint(acct.Log().Ops()), fmt.Sprint(want), "sent")
			_, err = table.Get(t.Context(), keys.Key{Partition: "hits", Row: "none"})
			assert.WantError(t, err, patterns.ErrNotFound)
		})
	}
}

// The try is applied after the row was read.
func TestATryWithoutAResponseMayStillBeApplied(t *testing.T) {
	for what, refused := range map[string]bool{"no try has a response": false, "all but the first are refused": true} {
		t.Run(what, func(t *testing.T) { testDelayedTry(t, refused) })
	}
}

func testDelayedTry(t *testing.T, refused bool) {
	var late func()
	hold, held := false, 0
	wrap := func(inner policy.Transporter) harness.Transport {
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
			calls.TraceRequest(req)
			late = func() {
				req.Body = io.NopCloser(bytes.NewReader(body))
				assert.MayFail(inner.Do(req.WithContext(context.Background())))
			}
			return nil, errors.New("connection reset")
		}
	}
	harness.RunThrough(t, wrap, func(t *testing.T, client *aztables.Client, acct *storagetest.Account) {
		table := harness.NewTable(t, client, &patterns.TableOptions[counter]{StampWrites: true})
		harness.Insert(t, table, counter{"hits", "0", 1})
		hold, held = true, 0
		acct.Fault(storagetest.On("Table.Replace").Times(3).Status(http.StatusServiceUnavailable, "ServerBusy"))
		_, err := table.Update(t.Context(), tally, addOne)
		hold = false
		acct.ClearFaults()
		late()
		assert.WantError(t, err, patterns.ErrOutcomeUnknown)
		assert.Equal(t, harness.Get(t, table, tally).Value.N, 2, "the late try was not applied")
	})
}

func TestAnUnknownOutcomePrintsItsCausesWithPlusV(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		const address = "table.storagetest.invalid" // part of the SDK's text
		table := harness.NewTable[counter](t, b.Table(t), nil)
		b.Fault(storagetest.On("Table.Insert").Status(500, "InternalError"), storagetest.On("Table.Batch").Status(500, "InternalError"))
		_, single := table.Insert(t.Context(), &counter{"hits", "0", 1})
		_, batch := table.Batch().Insert(&counter{"hits", "0", 1}).Commit(t.Context())
		b.Fault(storagetest.On("Table.Get").Status(500, "InternalError"))
		_, unread := table.Insert(t.Context(), &counter{"hits", "0", 1})
		for _, err := range []error{single, batch, unread} {
			assert.WantError(t, err, patterns.ErrOutcomeUnknown)
			assert.WantHidden(t, err, address)
			if text := fmt.Sprintf("%+v", err); strings.Count(text, address) == 0 {
				t.Errorf("%%+v prints no more than %s", text)
			}
		}
	})
}

// A write that never arrives is resolved by a read whose body is damaged.
func TestADamagedReadDoesNotDecideAnOutcome(t *testing.T) {
	damage := false
	body := ""
	wrap := func(inner policy.Transporter) harness.Transport {
		return func(req *http.Request) (*http.Response, error) {
			switch {
			case !damage:
				return inner.Do(req)
			case req.Method != http.MethodGet:
				return nil, errors.New("request lost")
			}
			resp, err := inner.Do(req)
			if err == nil {
				resp = harness.ReplaceBody(resp, func([]byte) []byte { return []byte(body) })
			}
			return resp, err
		}
	}
	harness.RunThrough(t, wrap, func(t *testing.T, client *aztables.Client, _ *storagetest.Account) {
		damage = false
		table := harness.NewTable[counter](t, client, nil)
		key := harness.Insert(t, table, counter{"hits", "1", 1}).Key
		for _, body = range []string{"", "{"} {
			damage = true
			err := table.Delete(t.Context(), key, "")
			assert.WantError(t, err, patterns.ErrOutcomeUnknown, "body", body)
			_, err = table.Upsert(t.Context(), &counter{"hits", "1", 2}, patterns.Merge)
			assert.WantError(t, err, patterns.ErrOutcomeUnknown)
			assert.WantError(t, err, patterns.ErrBadReply)
			damage = false
			harness.Get(t, table, key)
		}
	})
}
