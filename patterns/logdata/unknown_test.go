package logdata_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The first attempt of an append is still on its way when the service refuses the second one
// because of a lease.
func TestABlockIsNotStoredAgainWhileAnAttemptMayArriveAfterALease(t *testing.T) {
	runInProcess(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.WriterOptions{Name: "w"})
		write(t, w, at(0), "a")
		flush(t, w)
		l := assert.Must(lease.NewBlobClient(c.NewBlobClient("web/2014/07/31/1200/w-000000.log"), nil))(t)
		assert.NoError(t, assert.ErrorOf(l.AcquireLease(t.Context(), -1, nil)))
		b.Fault(storagetest.On("Blob.Append").Nth(1).LateRequest(time.Hour, time.Hour))
		write(t, w, at(1), "b")
		assert.WantError(t, w.Flush(t.Context()), patterns.ErrOutcomeUnknown)
		assert.NoError(t, assert.ErrorOf(l.ReleaseLease(t.Context(), nil)))
		assert.Equal(t, b.Arrive(), 1, "late requests")
		closeWriter(t, w)
		wantTexts(t, messages(t, c, at(0), at(9)), "a", "b")
	})
}

// refuse is a refusal that the SDK does not repeat.
func refuse(nth int) storagetest.Rule {
	return storagetest.On("Blob.Append").Nth(nth).Status(http.StatusForbidden, "AuthorizationFailure")
}

func TestARefusalAfterAnUnansweredAttemptIsNotCertain(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.WriterOptions{})
		write(t, w, at(0), "a")
		b.Fault(storagetest.On("Blob.Append").Nth(1).LoseReply(), refuse(2), refuse(3))
		for _, flush := range []string{"first", "second"} { // the second flush is refused without an unanswered try
			assert.WantError(t, w.Flush(t.Context()), patterns.ErrOutcomeUnknown, flush, "flush")
		}
		b.ClearFaults()
		closeWriter(t, w)
		wantTexts(t, messages(t, c, at(0), at(9)), "a")
	})
}

func TestARefusalOfTheOnlyAttemptIsCertain(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.WriterOptions{})
		write(t, w, at(0), "a")
		b.Fault(refuse(1))
		if err := w.Flush(t.Context()); err == nil || errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Errorf("got %v", err)
		}
		b.ClearFaults()
		closeWriter(t, w)
	})
}
