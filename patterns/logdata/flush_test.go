package logdata_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func logsOf(t *testing.T, acct *storagetest.Account) *container.Client {
	t.Helper()
	c := acct.Container("logs")
	assert.NoError(t, assert.ErrorOf(c.Create(t.Context(), nil)))
	acct.ResetLog()
	return c
}

// synctest.Test fails if a goroutine is still running at its end.
func TestAgeCountAndSizeStartAFlush(t *testing.T) {
	for name, o := range map[string]logdata.WriterOptions{
		"age":   {FlushAge: 5 * time.Second},
		"count": {FlushAge: never, FlushRecords: 3},
		"size":  {FlushAge: never, FlushBytes: 130},
	} {
		synctest.Test(t, func(t *testing.T) {
			acct := storagetest.New(t)
			c := logsOf(t, acct)
			w := newWriter(t, c, o)
			write(t, w, at(0), "a")
			write(t, w, at(1), "b")
			time.Sleep(4 * time.Second)
			assert.Equal(t, len(acct.Log()), 0, name, "requests")
			write(t, w, at(2), "c")
			if o.FlushAge > 0 {
				time.Sleep(time.Second)
			}
			synctest.Wait()
			wantTexts(t, messages(t, c, at(0), at(9)), "a", "b", "c")
			closeWriter(t, w)
		})
	}
}

func TestAFailedFlushIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		c := logsOf(t, acct)
		var mu sync.Mutex
		var errs []error
		w := newWriter(t, c, logdata.WriterOptions{FlushAge: time.Second, OnError: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		}})
		acct.Fault(storagetest.On("Blob.Append").Times(4).Status(http.StatusServiceUnavailable, "ServerBusy"))
		write(t, w, at(0), "a")
		time.Sleep(time.Hour)
		wantTexts(t, messages(t, c, at(0), at(9)), "a")
		closeWriter(t, w)
		assert.Equal(t, len(errs), 1, "OnError received", errs)
	})
}

func TestCloseWaitsForABackgroundFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		c := logsOf(t, acct)
		w := newWriter(t, c, logdata.WriterOptions{FlushAge: time.Second})
		acct.Fault(storagetest.On("Blob.Append").Nth(1).DelayReply(30 * time.Second))
		write(t, w, at(0), "a")
		time.Sleep(2 * time.Second)
		write(t, w, at(1), "b")
		acct.ResetLog()
		closeWriter(t, w)
		var ops []string
		for _, q := range acct.Log() {
			ops = append(ops, q.Op)
		}
		wantTexts(t, ops, "Blob.Append", "Blob.SetMetadata") // of b only: nothing is read or appended again
		wantTexts(t, messages(t, c, at(0), at(9)), "a", "b")
	})
}

func TestTheContextOfCloseEndsABackgroundFlushWhoseRecordsAreStoredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		c := logsOf(t, acct)
		w := newWriter(t, c, logdata.WriterOptions{FlushAge: time.Second})
		acct.Fault(storagetest.On("Blob.Append").Nth(1).DelayReply(time.Hour))
		write(t, w, at(0), "a")
		time.Sleep(2 * time.Second)
		write(t, w, at(1), "b")
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		assert.WantError(t, w.Close(ctx), context.DeadlineExceeded)
		assert.Equal(t, time.Since(began), time.Minute, "Close took")
		closeWriter(t, w)
		wantTexts(t, messages(t, c, at(0), at(9)), "a", "b")
	})
}

func TestCloseCanBeRepeatedAfterAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		c := logsOf(t, acct)
		w := newWriter(t, c, logdata.WriterOptions{})
		write(t, w, at(0), "a")
		acct.Fault(storagetest.On("Blob.*").LoseRequest())
		assert.Failed(t, w.Close(t.Context()), "no error")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.WantError(t, w.Close(ctx), context.Canceled)
		acct.ClearFaults()
		closeWriter(t, w)
		wantTexts(t, messages(t, c, at(0), at(9)), "a")
	})
}

// A buffer of 4 MiB holds four records of this size.
var large = string(slices.Repeat([]byte("x"), 1<<20-100))

func TestAFullBufferDropsOrWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		c := logsOf(t, acct)
		acct.Fault(storagetest.On("Blob.*").Status(http.StatusForbidden, "AuthorizationFailure"))

		drops := newWriter(t, c, logdata.WriterOptions{BufferBytes: logdata.MaxBlock, Drop: true, FlushBytes: logdata.MaxBlock, Name: "drops"})
		waits := newWriter(t, c, logdata.WriterOptions{BufferBytes: logdata.MaxBlock, FlushBytes: logdata.MaxBlock, Name: "waits"})
		for i := range 4 {
			write(t, drops, at(i), large)
			write(t, waits, at(i), large)
		}
		acct.ResetLog()
		for range 3 {
			assert.WantError(t, drops.Write(t.Context(), logdata.Record{Message: large}), logdata.ErrFull)
		}
		assert.Equal(t, drops.Dropped(), 3, "dropped")
		if err := waits.Write(t.Context(), logdata.Record{Message: large}); !errors.Is(err, logdata.ErrFull) || errors.Is(err, logdata.ErrPending) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		acct.ClearFaults()
		write(t, waits, at(4), large)
		closeWriter(t, drops)
		closeWriter(t, waits)
		assert.Equal(t, len(messages(t, c, at(0), at(60))), 9, "records")
	})
}

func TestConcurrentWritersLoseNoRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := logsOf(t, storagetest.New(t))
		var all sync.WaitGroup
		for range 4 {
			w := newWriter(t, c, logdata.WriterOptions{FlushRecords: 10, FlushAge: time.Millisecond})
			var writing sync.WaitGroup
			for i := range 4 {
				writing.Go(func() {
					for j := range 50 {
						write(t, w, at(i*1000+j), "x")
					}
				})
			}
			all.Go(func() { writing.Wait(); closeWriter(t, w) })
		}
		all.Wait()
		assert.Equal(t, len(messages(t, c, at(0), at(7200))), 800, "records")
	})
}
