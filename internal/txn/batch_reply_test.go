package txn_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestATornBatchReplyIsNotReportedAsSuccess(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := context.Background()
		table := harness.NewTable(t, b.Table(t), &patterns.TableOptions[harness.Person]{StampWrites: true})
		harness.Insert(t, table, harness.NewPerson("there"))
		good, there := harness.NewPerson("good"), harness.NewPerson("there")
		length := replyLength(t, b, func() {
			assert.MayFail(table.Batch().Insert(&good).Insert(&there).Commit(ctx))
		})
		for cut := int64(0); cut < length; cut += 7 {
			b.ClearFaults()
			b.Fault(storagetest.On("Table.Batch").Nth(1).CutReply(cut))
			_, err := table.Batch().Insert(&good).Insert(&there).Commit(ctx)
			assert.Failed(assert.Now(t), err, "a failure cut after", cut, "bytes is reported as success")
			if errors.Is(err, patterns.ErrConflict) {
				t.Errorf("cut after %d bytes: %v", cut, err)
			}
		}
		b.ClearFaults()
		length = replyLength(t, b, func() { assert.MayFail(table.Batch().Insert(&good).Commit(ctx)) })
		for cut := int64(0); cut < length; cut += 7 {
			b.ClearFaults()
			b.Fault(storagetest.On("Table.Batch").Nth(1).CutReply(cut))
			v := harness.NewPerson(fmt.Sprintf("cut%d", cut))
			result, err := table.Batch().Insert(&v).Commit(ctx)
			assert.NoError(t, err, "cut after", cut, "bytes")
			if want := harness.ETagOf(t, table, v.Key()); len(result.ETags) != 1 || result.ETags[0] != want {
				t.Errorf("cut after %d bytes: ETags %v, the row has %q", cut, result.ETags, want)
			}
		}
	})
}

// replyLength returns the length of the reply to the transaction that send commits.
func replyLength(t testing.TB, b *harness.Backend, send func()) int64 {
	t.Helper()
	b.ResetRequests()
	send()
	log := b.Requests().Only("Table.Batch")
	if len(log) != 1 || log[0].ReplyBytes == 0 {
		t.Fatalf("no reply: %v", log)
	}
	return log[0].ReplyBytes
}

// A proxy may truncate a reply without a transport error.
func TestATruncatedBatchReplyIsNotReportedAsSuccess(t *testing.T) {
	t.Parallel()
	cut, length := -1, 0
	wrap := func(inner policy.Transporter) harness.Transport {
		return func(req *http.Request) (*http.Response, error) {
			resp, err := inner.Do(req)
			if err != nil || req.Method != http.MethodPost || cut < 0 {
				return resp, err
			}
			return harness.ReplaceBody(resp, func(b []byte) []byte { length = len(b); return b[:min(cut, len(b))] }), nil
		}
	}
	harness.RunThrough(t, wrap, func(t *testing.T, client *aztables.Client, account *storagetest.Account) {
		harness.WithoutTargets(account)
		ctx := t.Context()
		table := harness.NewTable(t, client, &patterns.TableOptions[counter]{StampWrites: true})
		there := counter{"p", "there", 1}
		harness.Insert(t, table, there)
		for cut, length = 0, 1; cut < length; cut++ {
			v := counter{"p", "good", 1}
			_, err := table.Batch().Insert(&v).Insert(&there).Commit(ctx)
			if err == nil || errors.Is(err, patterns.ErrConflict) {
				t.Fatalf("a failure cut after %d of %d bytes returns %v", cut, length, err)
			}
			var f *patterns.BatchError
			if !errors.As(err, &f) || !errors.Is(err, patterns.ErrBadReply) && !errors.Is(err, patterns.ErrExists) {
				t.Fatalf("a failure cut after %d of %d bytes returns %v", cut, length, err)
			}
		}
		whole := length
		for cut, length = 0, whole; cut < length; cut++ {
			v := counter{"p", fmt.Sprint("row", cut), 1}
			result, err := table.Batch().Insert(&v).Commit(ctx)
			now := cut
			cut = -1
			if err != nil || len(result.ETags) != 1 || result.ETags[0] != harness.ETagOf(t, table, v.Key()) {
				t.Fatalf("a success cut after %d of %d bytes returns %v, %v", now, length, result, err)
			}
			cut = now
		}
		cut = -1
	})
}

func TestAnInvalidBatchReplyIsErrBadReply(t *testing.T) {
	body := ""
	wrap := func(inner policy.Transporter) harness.Transport {
		return func(req *http.Request) (*http.Response, error) {
			if req.Method != http.MethodPost { // reads of the rows fail too
				return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
			}
			resp, err := inner.Do(req)
			if err != nil {
				return nil, err
			}
			return harness.ReplaceBody(resp, func([]byte) []byte { return []byte(body) }), nil
		}
	}
	harness.RunThrough(t, wrap, func(t *testing.T, client *aztables.Client, _ *storagetest.Account) {
		table := harness.NewTable[counter](t, client, nil)
		for i, text := range []string{"", "\r\n", "--", "{", "{}", `{"odata.error":{}}`, "<html>", "--x\r\n", "null", "--batch\r\n\r\n--batch--"} {
			body = text
			v := counter{"p", fmt.Sprint(i), 1}
			_, err := table.Batch().Insert(&v).Commit(t.Context())
			assert.WantError(t, err, patterns.ErrOutcomeUnknown, text)
			assert.WantError(t, err, patterns.ErrBadReply, text)
		}
	})
}
