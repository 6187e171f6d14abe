package eventual_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// story is one process that does something and is killed, and what comes after it.
type story struct {
	process func() // makes the requests at which it is killed
	after   func() // other processes, when all is well again
	check   func(killed string)
}

// everyCrash tells the story once undisturbed, to count the requests of its process,
// and then twice for each request: killed just before it is carried out, and just
// after.
func everyCrash(t *testing.T, begin func(t *testing.T, b *testbed.Backend) story) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		tell := func(killed string, rules []fault.Rule) fault.Log {
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
		log := tell("never", nil)
		for i, q := range log {
			tell(fmt.Sprintf("before request %d, %s", i+1, q.Op), killedBefore(i+1))
			tell(fmt.Sprintf("after request %d, %s", i+1, q.Op), killedAfter(i+1))
		}
		t.Logf("%d requests, %d crashes", len(log), 2*len(log))
	})
}

// process runs the worker until a delivery ends, or nothing comes for a while.
func (s *bench) process(t testing.TB) func() {
	return func() {
		stop := s.start(t)
		select {
		case <-s.events:
		case <-time.After(20 * time.Second):
		}
		stop()
	}
}

// drain runs another worker until the queue holds nothing.
func (s *bench) drain(t testing.TB) func() {
	return func() {
		stop := s.start(t)
		for range 1000 {
			if count(t, s.queue) == 0 {
				break
			}
			time.Sleep(10 * time.Second)
		}
		stop()
		wantEmpty(t, s.queue)
	}
}

// slowly lets the polls of virtual hours be few, and requests come in one order.
func slowly(o *eventual.Options) {
	o.PollMin, o.PollMax = time.Second, 10*time.Second
	o.Parallel = 1
}

func TestAMoveSurvivesEveryCrashOfItsWorker(t *testing.T) {
	targets := map[string]func(b *testbed.Backend, w *eventual.Worker, current *aztables.Client, old *aztables.Client, blobs *container.Client){
		"table": func(b *testbed.Backend, w *eventual.Worker, current, old *aztables.Client, _ *container.Client) {
			eventual.HandleMove(w, "move", current, old)
		},
		"blob": func(b *testbed.Backend, w *eventual.Worker, current, _ *aztables.Client, blobs *container.Client) {
			eventual.HandleMoveToBlob(w, "move", current, blobs)
		},
	}
	for name, register := range targets {
		for _, earlier := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", name, earlier), func(t *testing.T) {
				everyCrash(t, func(t *testing.T, b *testbed.Backend) story {
					current, old, blobs := b.Table(t), b.Table(t), b.Container(t)
					s := newBench(t, b, slowly)
					register(b, s.worker, current, old, blobs)
					if earlier {
						putRow(t, old, hired("0", "long ago"))
						if _, err := blobs.NewBlockBlobClient("Sales/456.json").UploadBuffer(t.Context(), []byte(hired("0", "long ago")), nil); err != nil {
							t.Fatal(err)
						}
					}
					row := row456()
					row.ETag = putRow(t, current, employee456)
					s.put(t, "move", row, nil)
					return story{s.process(t), s.drain(t), func(string) {
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

func TestAJobSurvivesEveryCrashOfItsWorker(t *testing.T) {
	for name, size := range map[string]int{"small": 1, "through a blob": 60 << 10} {
		t.Run(name, func(t *testing.T) {
			everyCrash(t, func(t *testing.T, b *testbed.Backend) story {
				blobsOf := b.Container(t)
				s := newBench(t, b, func(o *eventual.Options) { slowly(o); o.Container = blobsOf })
				handled := 0
				eventual.Handle(s.worker, "full", func(ctx context.Context, job eventual.Job[string]) error {
					handled++
					return nil
				})
				s.put(t, "full", strings.Repeat("x", size), &eventual.EnqueueOptions{Container: blobsOf})
				return story{s.process(t), s.drain(t), func(killed string) {
					most := 1
					if strings.HasPrefix(killed, "before") && strings.HasSuffix(killed, "Queue.Delete") {
						most = 2 // done, and nobody knows
					}
					if handled < 1 || handled > most {
						t.Errorf("handled %d times", handled)
					}
					wantEmpty(t, s.poison)
					time.Sleep(31 * 24 * time.Hour)
					orphans, err := eventual.SweepClaims(t.Context(), blobsOf, 0)
					if err != nil || orphans > 1 || killed == "never" && orphans != 0 {
						t.Errorf("swept %d, %v", orphans, err)
					}
				}}
			})
		})
	}
}

func TestABurialSurvivesEveryCrash(t *testing.T) {
	everyCrash(t, func(t *testing.T, b *testbed.Backend) story {
		s := newBench(t, b, func(o *eventual.Options) { slowly(o); o.MaxAttempts = 1 })
		eventual.Handle(s.worker, "letter", fails)
		s.put(t, "letter", letter{To: "Ken"}, &eventual.EnqueueOptions{ID: "op"})
		return story{s.process(t), s.drain(t), func(killed string) {
			dead := peek(t, s.tools(t))
			most := 1
			if strings.Contains(killed, "after request 2") || strings.HasPrefix(killed, "before request 3") {
				most = 2 // copied, and not deleted
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

func TestAnEnqueueSurvivesEveryCrash(t *testing.T) {
	everyCrash(t, func(t *testing.T, b *testbed.Backend) story {
		blobsOf := b.Container(t)
		s := newBench(t, b, func(o *eventual.Options) { slowly(o); o.Container = blobsOf })
		handled := map[string]int{}
		eventual.Handle(s.worker, "full", func(ctx context.Context, job eventual.Job[string]) error {
			handled[job.ID]++
			return nil
		})
		var failed error
		enqueue := func() error {
			return eventual.Enqueue(t.Context(), s.queue, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{ID: "op", Container: blobsOf})
		}
		again := func() {
			if failed != nil { // who was not told that it worked does it again
				if err := enqueue(); err != nil {
					t.Error(err)
				}
			}
			s.drain(t)()
		}
		return story{func() { failed = enqueue() }, again, func(killed string) {
			if (failed == nil) != (killed == "never") {
				t.Errorf("Enqueue: %v", failed)
			}
			if n := handled["op"]; len(handled) != 1 || n < 1 || n > 2 {
				t.Errorf("handled %v", handled)
			}
			wantEmpty(t, s.poison)
		}}
	})
}

func TestAReplaySurvivesEveryCrash(t *testing.T) {
	everyCrash(t, func(t *testing.T, b *testbed.Backend) story {
		s := newBench(t, b, func(o *eventual.Options) { slowly(o); o.MaxAttempts = 1 })
		works, handled := false, 0
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			if !works {
				return errFails
			}
			handled++
			return nil
		})
		s.put(t, "letter", letter{}, nil)
		wantOutcomes(t, s.until(t, 1), eventual.Poisoned)
		works = true
		replay := func() error {
			p := s.tools(t)
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
			time.Sleep(10 * time.Minute) // what was taken appears again
			if err := replay(); err != nil {
				t.Error(err)
			}
			s.drain(t)()
		}
		return story{func() { _ = replay() }, again, func(killed string) {
			if handled < 1 || handled > 2 {
				t.Errorf("handled %d times", handled)
			}
			wantEmpty(t, s.poison)
		}}
	})
}
