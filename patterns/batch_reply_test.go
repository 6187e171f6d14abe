package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns"
)

func TestDamagedBatchRepliesNeverPassForSuccess(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		ctx := context.Background()
		table := people(t, b)
		insert(t, table, somebody("there"))
		good, there := somebody("good"), somebody("there")
		length := replyLength(t, b, func() {
			try(table.Batch().Insert(&good).Insert(&there).Commit(ctx))
		})
		for cut := int64(0); cut < length; cut += 7 {
			b.ClearFaults()
			b.Fault(fault.On("Table.Batch").Nth(1).CutReply(cut))
			_, err := table.Batch().Insert(&good).Insert(&there).Commit(ctx)
			if err == nil {
				t.Fatalf("a failure cut after %d bytes passes for success", cut)
			}
			if errors.Is(err, patterns.ErrConflict) {
				t.Errorf("cut after %d bytes: %v", cut, err)
			}
		}
		b.ClearFaults()
		length = replyLength(t, b, func() { try(table.Batch().Insert(&good).Commit(ctx)) })
		for cut := int64(0); cut < length; cut += 7 {
			b.ClearFaults()
			b.Fault(fault.On("Table.Batch").Nth(1).CutReply(cut))
			v := somebody(fmt.Sprintf("cut%d", cut))
			result, err := table.Batch().Insert(&v).Commit(ctx)
			if err != nil {
				t.Fatalf("cut after %d bytes: %v", cut, err)
			}
			if want := etagOf(t, table, v.key()); len(result.ETags) != 1 || result.ETags[0] != want {
				t.Errorf("cut after %d bytes: ETags %v, the row has %q", cut, result.ETags, want)
			}
		}
	})
}

// replyLength is how long the reply to the transaction is that send sends.
func replyLength(t testing.TB, b *testbed.Backend, send func()) int64 {
	t.Helper()
	b.ResetRequests()
	send()
	log := b.Requests().Only("Table.Batch")
	if len(log) != 1 || log[0].ReplyBytes == 0 {
		t.Fatalf("no reply: %v", log)
	}
	return log[0].ReplyBytes
}

func TestRefusedTransactionIsAnErrorWithItsStatus(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		table := people(t, b)
		for _, c := range []struct {
			status int
			code   string
			is     error
		}{
			{http.StatusForbidden, "AuthorizationFailure", nil},
			{http.StatusRequestEntityTooLarge, "RequestBodyTooLarge", patterns.ErrTooLarge},
			{http.StatusServiceUnavailable, "ServerBusy", patterns.ErrThrottled},
			{http.StatusNotFound, "TableNotFound", patterns.ErrTableNotFound},
		} {
			b.ClearFaults()
			b.Fault(fault.On("Table.Batch").Status(c.status, c.code))
			v := somebody("x")
			_, err := table.Batch().Insert(&v).Commit(t.Context())
			var f *patterns.BatchError
			if !errors.As(err, &f) || f.Index != -1 || f.Status != c.status || f.Code != c.code {
				t.Errorf("%d %s: got %+v", c.status, c.code, err)
			}
			if c.is != nil {
				wantError(t, err, c.is)
			}
			var sdk *azcore.ResponseError
			if !errors.As(err, &sdk) || sdk.StatusCode != c.status {
				t.Errorf("%d %s: got %+v", c.status, c.code, sdk)
			}
		}
	})
}
