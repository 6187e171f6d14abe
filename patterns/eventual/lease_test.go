package eventual_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

var leaseKey = keys.Key{Partition: "leases", Row: "leader"}

// line is the network of one process. Its fields may be changed at any time.
type line struct {
	down     atomic.Bool                  // no request arrives
	lose     func() (request, reply bool) // may be nil
	late     func() time.Duration         // how much later a request arrives whose sender no longer waits; may be nil
	requests atomic.Int64

	transport policy.Transporter // of late requests
}

var errLine = errors.New("connection lost")

func (l *line) Do(req *policy.Request) (*http.Response, error) {
	l.requests.Add(1)
	request, reply := l.down.Load(), false
	if !request && l.lose != nil {
		request, reply = l.lose()
	}
	if request {
		if after := l.late; after != nil && !l.down.Load() {
			if d := after(); d > 0 {
				copied := req.Raw().Clone(context.WithoutCancel(req.Raw().Context())) // a policy.Request shares values with its clones
				if body := req.Body(); body != nil {                                  // the original one may be used again
					text, err := io.ReadAll(body)
					if _, failed := body.Seek(0, io.SeekStart); err != nil || failed != nil {
						return nil, errors.Join(err, failed)
					}
					copied.Body = io.NopCloser(bytes.NewReader(text))
				}
				go func() { // ends with the virtual time of the test
					time.Sleep(d)
					if resp, err := l.transport.Do(copied); err == nil {
						_, _ = io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
				}()
			}
		}
		return nil, errLine
	}
	resp, err := req.Next()
	if err == nil && reply {
		resp.Body.Close()
		return nil, errLine
	}
	return resp, err
}

// newLease returns the lease of a process with this network.
func newLease(t *testing.T, acct *storagetest.Account, l *line, opts *eventual.LeaseOptions) *eventual.Lease {
	t.Helper()
	l.transport = acct.Transport()
	clientOpts := &aztables.ClientOptions{}
	clientOpts.PerRetryPolicies = []policy.Policy{l}
	lease := assert.Must(eventual.NewLease(acct.TablesWith(clientOpts).NewClient("Leases"), leaseKey, opts))(t)
	return lease
}

// onLeases runs a test in virtual time, with an account that has the table.
func onLeases(t *testing.T, body func(t *testing.T, acct *storagetest.Account)) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.Start(nil)
		assert.NoError(t, newLease(t, acct, &line{}, nil).Create(t.Context()))
		body(t, acct)
	})
}

func untilLost(ctx context.Context, _ int64) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestALeaseOfAProcessThatDiedIsTakenOver(t *testing.T) {
	onLeases(t, func(t *testing.T, acct *storagetest.Account) {
		died, other := &line{}, &line{}
		var fences [2]int64
		lost := make(chan time.Time, 1)
		began := time.Now()
		go func() {
			err := newLease(t, acct, died, nil).Run(t.Context(), func(ctx context.Context, fence int64) error {
				fences[0] = fence
				return untilLost(ctx, fence)
			})
			if !errors.Is(err, eventual.ErrLeaseLost) {
				t.Errorf("the lease was lost: %v", err)
			}
			lost <- time.Now()
		}()
		time.Sleep(time.Minute)
		died.down.Store(true)
		assert.NoError(t, newLease(t, acct, other, nil).Run(t.Context(), func(_ context.Context, fence int64) error {
			fences[1] = fence
			return nil
		}))
		taken := time.Since(began) - time.Minute
		if at := <-lost; at.After(time.Now()) || !at.Before(began.Add(time.Minute+30*time.Second)) {
			t.Errorf("the dead holder noticed after %v", at.Sub(began))
		}
		if taken > 46*time.Second {
			t.Errorf("taken over after %v", taken)
		}
		assert.Equal(t, fences, [2]int64{1, 2}, "fences")
	})
}

func TestAReleasedLeaseIsTakenAtTheNextRead(t *testing.T) {
	onLeases(t, func(t *testing.T, acct *storagetest.Account) {
		free := make(chan struct{})
		go func() {
			err := newLease(t, acct, &line{}, nil).Run(t.Context(), func(context.Context, int64) error { <-free; return errFails })
			if !errors.Is(err, errFails) || errors.Is(err, eventual.ErrLeaseLost) {
				t.Errorf("the error of the holder: %v", err)
			}
		}()
		synctest.Wait()
		waiting := newLease(t, acct, &line{}, nil)
		ok, err := waiting.TryRun(t.Context(), untilLost)
		assert.NoError(t, err)
		assert.Equal(t, ok, false, "a lease that is held was taken")
		began := time.Now()
		time.AfterFunc(time.Minute, func() { close(free) })
		assert.NoError(t, waiting.Run(t.Context(), func(context.Context, int64) error { return nil }))
		if took := time.Since(began); took < time.Minute || took > time.Minute+15*time.Second {
			t.Errorf("taken after %v", took)
		}
	})
}

func TestTheCostOfALease(t *testing.T) {
	onLeases(t, func(t *testing.T, acct *storagetest.Account) {
		holder, waiter := &line{}, &line{}
		ctx, stop := context.WithCancel(t.Context())
		for _, l := range []*line{holder, waiter} {
			go func() { _ = newLease(t, acct, l, nil).Run(ctx, untilLost) }()
			synctest.Wait()
		}
		assert.Equal(t, holder.requests.Load(), 2, "requests to take the lease")
		holder.requests.Store(0)
		waiter.requests.Store(0)
		time.Sleep(10*time.Minute + time.Second)
		assert.Equal(t, holder.requests.Load(), 60, "requests of the holder in 10 minutes")
		assert.Equal(t, waiter.requests.Load(), 40, "requests of one that waits")
		holder.requests.Store(0)
		stop()
		synctest.Wait()
		assert.Equal(t, holder.requests.Load(), 1, "requests to release it")
	})
}

func TestAReplyThatIsLostDoesNotCostTheLease(t *testing.T) {
	for n := 1; n <= 6; n++ { // the first two requests take the lease, the others renew it
		t.Run(fmt.Sprint("request ", n), func(t *testing.T) {
			onLeases(t, func(t *testing.T, acct *storagetest.Account) {
				count := 0
				l := &line{lose: func() (bool, bool) { count++; return false, count == n }}
				began := time.Now()
				err := newLease(t, acct, l, nil).Run(t.Context(), func(ctx context.Context, fence int64) error {
					assert.Equal(t, fence, 1, "fence")
					select {
					case <-ctx.Done():
						return context.Cause(ctx)
					case <-time.After(3 * time.Minute):
						return nil
					}
				})
				assert.NoError(t, err)
				if took := time.Since(began); took > 4*time.Minute {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// Processes with bad networks, whose requests may arrive long after their sender has ended its wait, compete. At no time do two of them
// work, and each fence is greater than the one before.
func TestTwoProcessesNeverHoldALease(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 4
	}
	for range rounds {
		seed := rand.Uint64()
		onLeases(t, func(t *testing.T, acct *storagetest.Account) {
			ctx, stop := context.WithTimeout(t.Context(), 30*time.Minute)
			defer stop()
			var working, last atomic.Int64
			var held atomic.Int64
			done := make(chan struct{})
			const processes = 4
			for i := range processes {
				random := rand.New(rand.NewPCG(seed, uint64(i)))
				draw := make(chan float64) // the numbers of a process
				go func() {
					for {
						select {
						case draw <- random.Float64():
						case <-ctx.Done():
							close(draw)
							return
						}
					}
				}()
				l := &line{
					lose: func() (bool, bool) { return <-draw < 0.15, <-draw < 0.15 },
					late: func() time.Duration { return time.Duration(<-draw * <-draw * float64(3*time.Minute)) },
				}
				lease := newLease(t, acct, l, &eventual.LeaseOptions{Duration: time.Duration(5+20*i) * time.Second, Poll: 3 * time.Second})
				go func() {
					defer func() { done <- struct{}{} }()
					for ctx.Err() == nil {
						_ = lease.Run(ctx, func(ctx context.Context, fence int64) error {
							if working.Add(1) != 1 {
								t.Errorf("seed %d: two processes work", seed)
							}
							if before := last.Swap(fence); before >= fence {
								t.Errorf("seed %d: fence %d after %d", seed, fence, before)
							}
							held.Add(1)
							defer working.Add(-1)
							select {
							case <-ctx.Done():
							case <-time.After(time.Duration(<-draw * float64(2*time.Minute))):
							}
							return nil
						})
						if <-draw < 0.2 && ctx.Err() == nil { // its network fails for a time
							l.down.Store(true)
							time.AfterFunc(time.Minute, func() { l.down.Store(false) })
						}
						time.Sleep(time.Second)
					}
				}()
			}
			for range processes {
				<-done
			}
			time.Sleep(5 * time.Minute) // until the last late request has arrived
			if held.Load() < 10 {
				t.Errorf("seed %d: the lease was held %d times", seed, held.Load())
			}
		})
	}
}

func TestARowThatIsNoLeaseIsRefused(t *testing.T) {
	onLeases(t, func(t *testing.T, acct *storagetest.Account) {
		for _, text := range []string{`"Holder":"x","Fence@odata.type":"Edm.Int64","Fence":"1"`, `"Holder":"x","Fence":-1`,
			`"Holder":"x","Fence":1,"Duration@odata.type":"Edm.Int64","Duration":"9223372036854775807"`} {
			body := fmt.Sprintf(`{"PartitionKey":"leases","RowKey":"leader",%s}`, text)
			assert.NoError(t, assert.ErrorOf(acct.Tables().NewClient("Leases").UpsertEntity(t.Context(), []byte(body),
				&aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})))
			err := newLease(t, acct, &line{}, nil).Run(t.Context(), untilLost)
			assert.Equal(t, errors.Is(err, patterns.ErrBadReply), true, err)
		}
	})
}

func TestALeaseInATableThatDoesNotExistIsAnError(t *testing.T) {
	lease := newLease(t, storagetest.Start(nil), &line{}, nil)
	err := lease.Run(t.Context(), untilLost)
	assert.Equal(t, errors.Is(err, patterns.ErrTableNotFound), true, err)
}

func TestALeaseWithoutAFunctionIsRefusedBeforeAnyRequest(t *testing.T) {
	onLeases(t, func(t *testing.T, acct *storagetest.Account) {
		var l line
		lease := newLease(t, acct, &l, nil)
		ok, err := lease.TryRun(t.Context(), nil)
		assert.Equal(t, ok, false)
		assert.WantError(t, err, patterns.ErrNil)
		assert.WantError(t, lease.Run(t.Context(), nil), patterns.ErrNil)
		assert.Equal(t, l.requests.Load(), 0, "requests")
	})
}

func TestLeaseOptionsAreChecked(t *testing.T) {
	client := storagetest.Start(nil).Tables().NewClient("Leases")
	for _, o := range []eventual.LeaseOptions{{Duration: time.Second}, {Duration: 2 * time.Hour}, {Duration: -1}, {Poll: -1}} {
		_, err := eventual.NewLease(client, leaseKey, &o)
		assert.Equal(t, errors.Is(err, patterns.ErrBadOption), true, o, err)
	}
	_, err := eventual.NewLease(client, keys.Key{Partition: "a/b"}, nil)
	assert.Equal(t, errors.Is(err, patterns.ErrBadKey), true, err)
	_, err = eventual.NewLease(nil, leaseKey, nil)
	assert.Equal(t, errors.Is(err, patterns.ErrNil), true, err)
}
