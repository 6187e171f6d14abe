package patterns_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

type transport func(*http.Request) (*http.Response, error)

func (f transport) Do(req *http.Request) (*http.Response, error) { return f(req) }

// through runs body in both modes with a new table behind what wrap makes of an
// account's transport. Tries follow at once.
func through(t *testing.T, wrap func(inner policy.Transporter) transport, body func(t *testing.T, client *aztables.Client, acct *storagetest.Account)) {
	t.Helper()
	for mode, accelerate := range map[string]bool{"plain": false, "accelerated": true} {
		t.Run(mode, func(t *testing.T) {
			acct := storagetest.New(t)
			name := harness.UniqueName()
			if _, err := acct.Tables().CreateTable(t.Context(), name, nil); err != nil {
				t.Fatal(err)
			}
			acct.ResetLog()
			body(t, open(t, acct.ConnectionString(), name, accelerate, wrap(acct.Transport())), acct)
		})
	}
}

func open(t testing.TB, connection, table string, accelerate bool, through policy.Transporter) *aztables.Client {
	t.Helper()
	opts := &aztables.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: through,
		Retry:     policy.RetryOptions{RetryDelay: time.Microsecond, MaxRetryDelay: time.Microsecond},
	}}
	if accelerate {
		opts = patterns.Accelerate(opts)
	}
	service, err := aztables.NewServiceClientFromConnectionString(connection, opts)
	if err != nil {
		t.Fatal(err)
	}
	return service.NewClient(table)
}

// replace gives resp another body, whole as far as HTTP is concerned.
func replace(resp *http.Response, change func([]byte) []byte) *http.Response {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err) // of an account in this process
	}
	body = change(body)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return resp
}

// A proxy may end a reply anywhere and call it whole.
func TestTruncatedBatchRepliesNeverPassForSuccess(t *testing.T) {
	t.Parallel()
	cut, length := -1, 0
	wrap := func(inner policy.Transporter) transport {
		return func(req *http.Request) (*http.Response, error) {
			resp, err := inner.Do(req)
			if err != nil || req.Method != http.MethodPost || cut < 0 {
				return resp, err
			}
			return replace(resp, func(b []byte) []byte { length = len(b); return b[:min(cut, len(b))] }), nil
		}
	}
	through(t, wrap, func(t *testing.T, client *aztables.Client, _ *storagetest.Account) {
		ctx := t.Context()
		table := newTable[counter](t, client, nil)
		there := counter{"p", "there", 1}
		insert(t, table, there)
		for cut, length = 0, 1; cut < length; cut++ {
			v := counter{"p", "good", 1}
			_, err := table.Batch().Insert(&v).Insert(&there).Commit(ctx)
			if err == nil || errors.Is(err, patterns.ErrConflict) {
				t.Fatalf("a failure cut after %d of %d bytes gives %v", cut, length, err)
			}
			var f *patterns.BatchError
			if !errors.As(err, &f) || !errors.Is(err, patterns.ErrBadReply) && !errors.Is(err, patterns.ErrExists) {
				t.Fatalf("a failure cut after %d of %d bytes gives %v", cut, length, err)
			}
		}
		whole := length
		for cut, length = 0, whole; cut < length; cut++ {
			v := counter{"p", fmt.Sprint("row", cut), 1}
			result, err := table.Batch().Insert(&v).Commit(ctx)
			now := cut
			cut = -1
			if err != nil || len(result.ETags) != 1 || result.ETags[0] != etagOf(t, table, v.key()) {
				t.Fatalf("a success cut after %d of %d bytes gives %v, %v", now, length, result, err)
			}
			cut = now
		}
		cut = -1
	})
}

func TestNonsenseForABatchReplyIsBadReply(t *testing.T) {
	body := ""
	wrap := func(inner policy.Transporter) transport {
		return func(req *http.Request) (*http.Response, error) {
			if req.Method != http.MethodPost { // rows cannot be read again either
				return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
			}
			resp, err := inner.Do(req)
			if err != nil {
				return nil, err
			}
			return replace(resp, func([]byte) []byte { return []byte(body) }), nil
		}
	}
	through(t, wrap, func(t *testing.T, client *aztables.Client, _ *storagetest.Account) {
		table := newTable[counter](t, client, nil)
		for i, text := range []string{"", "\r\n", "--", "{", "{}", `{"odata.error":{}}`, "<html>", "--x\r\n", "null", "--batch\r\n\r\n--batch--"} {
			body = text
			v := counter{"p", fmt.Sprint(i), 1}
			_, err := table.Batch().Insert(&v).Commit(t.Context())
			if !errors.Is(err, patterns.ErrOutcomeUnknown) || !errors.Is(err, patterns.ErrBadReply) {
				t.Errorf("%q gives %v", text, err)
			}
		}
	})
}

func TestMalformedRepliesToReadsAreBadReplies(t *testing.T) {
	var body []byte
	requests := 0
	wrap := func(inner policy.Transporter) transport {
		return func(req *http.Request) (*http.Response, error) {
			resp, err := inner.Do(req)
			if err != nil || req.Method != http.MethodGet {
				return resp, err
			}
			requests++
			return replace(resp, func([]byte) []byte { return body }), nil
		}
	}
	through(t, wrap, func(t *testing.T, client *aztables.Client, _ *storagetest.Account) {
		table := newTable[counter](t, client, nil)
		insert(t, table, counter{"hits", "0", 1})
		for _, text := range []string{"", "{", "[]", "null", `"x"`, `{"PartitionKey":"hits"`, "{}x", "\xff", `{"N":01}`, `{"PartitionKey":1,"RowKey":"0"}`, "<html></html>"} {
			body, requests = []byte(text), 0
			item, err := table.Get(t.Context(), tally)
			if err == nil || item.Value != (counter{}) {
				t.Errorf("%q gives %+v, %v", text, item, err)
				continue
			}
			var property *patterns.PropertyError
			if !errors.Is(err, patterns.ErrBadReply) && !errors.As(err, &property) {
				t.Errorf("%q gives %v", text, err)
			}
			if requests != 1 {
				t.Errorf("%q was asked for %d times", text, requests)
			}
		}
	})
}

// A cache between may mix up replies, or answer what is no row at all.
func TestAReplyWithAnotherRowIsNotTheRow(t *testing.T) {
	for what, body := range map[string]string{
		"another row":       `{"PartitionKey":"sales","RowKey":"SECRET","Age":30}`,
		"another partition": `{"PartitionKey":"SECRET","RowKey":"ann","Age":30}`,
		"no keys":           `{"value":[{"PartitionKey":"sales","RowKey":"ann"}]}`,
	} {
		t.Run(what, func(t *testing.T) {
			wrap := func(inner policy.Transporter) transport {
				return func(req *http.Request) (*http.Response, error) {
					resp, err := inner.Do(req)
					if err != nil || req.Method != http.MethodGet {
						return resp, err
					}
					return replace(resp, func([]byte) []byte { return []byte(body) }), nil
				}
			}
			through(t, wrap, func(t *testing.T, client *aztables.Client, acct *storagetest.Account) {
				table := newTable[person](t, client, nil)
				insert(t, table, somebody("ann"))
				_, getErr := table.Get(t.Context(), somebody("ann").key())
				_, updateErr := table.Update(t.Context(), somebody("ann").key(), func(*person) error { return nil })
				for _, err := range []error{getErr, updateErr} {
					wantError(t, err, patterns.ErrBadReply)
					silent(t, err, "SECRET", "sales")
				}
				if n := acct.Log().Count("Table.Get"); n != 2 {
					t.Errorf("%d reads", n)
				}
			})
		})
	}
}
