package eventual_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// scenario is a process that is killed, and what happens after that.
type scenario struct {
	process func() // the process; it is killed at one of its requests
	after   func() // other processes, when requests succeed again
	check   func(killed string)
}

// crashAtEveryRequest runs the scenario once without a crash, to count the requests of its
// process, and then twice for each request: with a crash before it is carried out, and
// with a crash after that.
func crashAtEveryRequest(t *testing.T, begin func(t *testing.T, b *harness.Backend) scenario) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		run := func(killed string, rules []storagetest.Rule) storagetest.Log {
			s := begin(t, b)
			b.ResetRequests()
			b.Fault(rules...)
			s.process()
			log := b.Requests()
			b.ClearFaults()
			s.after()
			s.check(killed)
			if t.Failed() {
				t.Fatalf("the process was killed %s; it had sent\n%v", killed, log)
			}
			return log
		}
		log := run("never", nil)
		crashes, sample := 0, harness.Sample(t, 3)
		for i, q := range log {
			if !sample(i) {
				continue
			}
			crashes += 2
			run(fmt.Sprintf("before request %d, %s", i+1, q.Op), crashBefore(i+1))
			run(fmt.Sprintf("after request %d, %s", i+1, q.Op), crashAfter(i+1))
		}
		t.Logf("%d requests, %d crashes", len(log), crashes)
	})
}

// process returns a function that runs the worker until a delivery ends, or until no
// message was delivered for a while.
func (s *fixture) process(t testing.TB) func() {
	return func() {
		stop := s.start(t)
		select {
		case <-s.events:
		case <-time.After(20 * time.Second):
		}
		stop()
	}
}

// drain returns a function that runs the worker until the queue is empty.
func (s *fixture) drain(t testing.TB) func() {
	return func() {
		stop := s.start(t)
		for range 5000 { // 14 hours: each duplicate of an outbox message takes an hour
			if count(t, s.queue) == 0 {
				break
			}
			time.Sleep(10 * time.Second)
		}
		stop()
		wantEmpty(t, s.queue)
	}
}

// released sweeps if no message leads to the operation of a killed process: a reservation may
// have been faster than the message, but no transaction. It reports whether there was one.
func released(t testing.TB, queue *azqueue.QueueClient, store *patterns.Store[member]) bool {
	t.Helper()
	if count(t, queue) != 0 {
		return false
	}
	time.Sleep(3 * storeGrace)
	report, err := store.Sweep(t.Context(), nil)
	if err != nil || len(report.Failures) != 0 || report.Drained != 0 {
		t.Errorf("sweep: %v, %+v", err, report)
	}
	return report.Released != 0
}

func TestMoveSurvivesEveryCrashOfItsWorker(t *testing.T) {
	targets := map[string]func(b *harness.Backend, w *eventual.Worker, current *aztables.Client, old *aztables.Client, blobs *container.Client){
		"table": func(b *harness.Backend, w *eventual.Worker, current, old *aztables.Client, _ *container.Client) {
			eventual.HandleMove(w, "move", current, old)
		},
		"blob": func(b *harness.Backend, w *eventual.Worker, current, _ *aztables.Client, blobs *container.Client) {
			eventual.HandleMoveToBlob(w, "move", current, blobs)
		},
	}
	for name, register := range targets {
		for _, earlier := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", name, earlier), func(t *testing.T) {
				crashAtEveryRequest(t, func(t *testing.T, b *harness.Backend) scenario {
					current, old, blobs := b.Table(t), b.Table(t), b.Container(t)
					s := newFixture(t, b, infrequentPolls)
					register(b, s.worker, current, old, blobs)
					if earlier {
						putRow(t, old, employee("0", "long ago"))
						if _, err := blobs.NewBlockBlobClient("Sales/456.json").UploadBuffer(t.Context(), []byte(employee("0", "long ago")), nil); err != nil {
							t.Fatal(err)
						}
					}
					row := row456()
					row.ETag = putRow(t, current, employee456)
					s.put(t, "move", row, nil)
					return scenario{s.process(t), s.drain(t), func(string) {
						a := &archive{current: current, read: func(t testing.TB) (string, bool) { return readRow(t, old) }}
						if name == "blob" {
							a.read = func(t testing.TB) (string, bool) { return readBlob(t, blobs) }
						}
						a.want(t, "", employee456)
						wantEmpty(t, s.poison)
					}}
				})
			})
		}
	}
}

func TestJobSurvivesEveryCrashOfItsWorker(t *testing.T) {
	for name, size := range map[string]int{"small": 1, "through a blob": 60 << 10} {
		t.Run(name, func(t *testing.T) {
			crashAtEveryRequest(t, func(t *testing.T, b *harness.Backend) scenario {
				payloads := b.Container(t)
				s := newFixture(t, b, func(o *eventual.Options) { infrequentPolls(o); o.Container = payloads })
				processed := 0
				eventual.Handle(s.worker, "full", func(ctx context.Context, job eventual.Job[string]) error {
					processed++
					return nil
				})
				s.put(t, "full", strings.Repeat("x", size), &eventual.EnqueueOptions{Container: payloads})
				return scenario{s.process(t), s.drain(t), func(killed string) {
					most := 1
					if strings.HasPrefix(killed, "before") && strings.HasSuffix(killed, "Queue.Delete") {
						most = 2 // done, but not yet deleted
					}
					if processed < 1 || processed > most {
						t.Errorf("processed %d times", processed)
					}
					wantEmpty(t, s.poison)
					time.Sleep(31 * 24 * time.Hour)
					report, err := sweepClaims(t, payloads, nil)
					if err != nil || report.Done > 1 || killed == "never" && report.Done != 0 {
						t.Errorf("swept %+v, %v", report, err)
					}
				}}
			})
		})
	}
}

func TestMoveToPoisonSurvivesEveryCrash(t *testing.T) {
	crashAtEveryRequest(t, func(t *testing.T, b *harness.Backend) scenario {
		s := newFixture(t, b, func(o *eventual.Options) { infrequentPolls(o); o.Tries = 1 })
		eventual.Handle(s.worker, "letter", fails)
		s.put(t, "letter", letter{To: "Ken"}, &eventual.EnqueueOptions{ID: "op"})
		return scenario{s.process(t), s.drain(t), func(killed string) {
			dead := peek(t, s.poisonQueue(t))
			most := 1
			if strings.Contains(killed, "after request 2") || strings.HasPrefix(killed, "before request 3") {
				most = 2 // copied, but not yet deleted
			}
			if len(dead) < 1 || len(dead) > most {
				t.Errorf("%d poison messages", len(dead))
			}
			for _, d := range dead {
				if d.ID != "op" || string(d.Payload) != `{"To":"Ken","Text":""}` || d.Reason == "" {
					t.Errorf("got %+v", d)
				}
			}
		}}
	})
}

func TestEnqueueSurvivesEveryCrash(t *testing.T) {
	crashAtEveryRequest(t, func(t *testing.T, b *harness.Backend) scenario {
		payloads := b.Container(t)
		s := newFixture(t, b, func(o *eventual.Options) { infrequentPolls(o); o.Container = payloads })
		processed := map[string]int{}
		eventual.Handle(s.worker, "full", func(ctx context.Context, job eventual.Job[string]) error {
			processed[job.ID]++
			return nil
		})
		var failed error
		enqueue := func() error {
			return eventual.Enqueue(t.Context(), s.queue, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{ID: "op", Container: payloads})
		}
		again := func() {
			if failed != nil { // a caller that got no confirmation calls Enqueue again
				assert.Equal(t, enqueue(), nil)
			}
			s.drain(t)()
		}
		return scenario{func() { failed = enqueue() }, again, func(killed string) {
			assert.Equal(t, failed == nil, killed == "never", "Enqueue", failed)
			if n := processed["op"]; len(processed) != 1 || n < 1 || n > 2 {
				t.Errorf("processed %v", processed)
			}
			wantEmpty(t, s.poison)
		}}
	})
}

func TestReplaySurvivesEveryCrash(t *testing.T) {
	crashAtEveryRequest(t, func(t *testing.T, b *harness.Backend) scenario {
		s := newFixture(t, b, func(o *eventual.Options) { infrequentPolls(o); o.Tries = 1 })
		works, processed := false, 0
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			if !works {
				return errFails
			}
			processed++
			return nil
		})
		s.put(t, "letter", letter{}, nil)
		wantOutcomes(t, s.until(t, 1), eventual.Poisoned)
		works = true
		replay := func() error {
			p := s.poisonQueue(t)
			for d, err := range p.Take(t.Context()) {
				if err == nil {
					err = p.Replay(t.Context(), d)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
		again := func() {
			time.Sleep(10 * time.Minute) // what the first process received becomes visible again
			assert.Equal(t, replay(), nil)
			s.drain(t)()
		}
		return scenario{func() { _ = replay() }, again, func(killed string) {
			if processed < 1 || processed > 2 {
				t.Errorf("processed %d times", processed)
			}
			wantEmpty(t, s.poison)
		}}
	})
}
