package outbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// network is the network between a process and the account. It delays the first attempt
// that hold selects: the process gets an error, and tries again.
type network struct {
	policy.Transporter
	hold func(method, path string) bool
	late *http.Request

	// reply is the body of the reply with status 500 that the process gets for the delayed
	// attempt; "" for no reply.
	reply string
}

func (n *network) Do(req *http.Request) (*http.Response, error) {
	if n.late != nil || !n.hold(req.Method, req.URL.Path) {
		return n.Transporter.Do(req)
	}
	n.late = req.Clone(context.WithoutCancel(req.Context()))
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		n.late.Body = io.NopCloser(bytes.NewReader(body))
	}
	if n.reply != "" {
		return &http.Response{StatusCode: http.StatusInternalServerError, Body: io.NopCloser(strings.NewReader(n.reply)), Request: req}, nil
	}
	return nil, harness.ErrLost
}

// arrive carries out the delayed attempt.
func (n *network) arrive(r *race) {
	if n.late == nil {
		r.must(errors.New("no request was delayed"))
		return
	}
	res, err := n.Transporter.Do(n.late)
	r.must(err)
	if err == nil {
		_ = res.Body.Close()
	}
}

// behind starts a process whose first attempt of a request that hold selects is delayed.
func (r *race) behind(hold func(method, path string) bool) (*process, *network) {
	p := r.process()
	n := &network{Transporter: p.inner, hold: hold}
	p.inner = n
	return p, n
}

func isTransaction(_, path string) bool { return strings.HasSuffix(path, "$batch") }

// absent checks that jones does not exist.
func (r *race) absent() {
	if _, err := r.process().Get(r.ctx, jones().key()); !errors.Is(err, patterns.ErrNotFound) {
		r.must(errors.New("the deleted entity exists again"))
	}
}

func TestALateInsertDoesNotTakeBackAUniqueValue(t *testing.T) {
	testRace(t, func(r *race) {
		a, network := r.behind(isTransaction)
		_, err := a.Insert(r.ctx, withBadge("B7"))
		r.must(err)
		r.must(a.Delete(r.ctx, jones().key()))
		_, err = r.process().Insert(r.ctx, rival())
		r.must(err)
		network.arrive(r)
		r.absent()
	})
}

func TestALateInsertOfARemoteRowIsCorrected(t *testing.T) {
	for _, table := range []string{"/other", "/other("} {
		testRace(t, func(r *race) {
			a, network := r.behind(func(method, path string) bool {
				return method != http.MethodGet && strings.Contains(path, table)
			})
			_, err := a.Insert(r.ctx, withBadge("B7"))
			r.must(err)
			r.must(a.Delete(r.ctx, jones().key()))
			network.arrive(r)
		})
	}
}

func TestALateInsertOfAReservationIsCorrected(t *testing.T) {
	testRace(t, func(r *race) {
		a, network := r.behind(func(method, path string) bool { return method == http.MethodPost && !isTransaction("", path) })
		_, err := a.Insert(r.ctx, withBadge("B7"))
		r.must(err)
		r.must(a.Delete(r.ctx, jones().key()))
		network.arrive(r)
	})
}

func TestAGuardedInsertDoesNotUndoADelete(t *testing.T) {
	for _, lose := range []string{"the request is late", "the reply is lost"} {
		testRaceInPartition(t, func(r *race) {
			a, network := r.behind(func(method, path string) bool { return lose == "the request is late" && isTransaction(method, path) })
			guarded, err := r.start(&process{guard: true})
			r.must(err)
			guarded.inner, a = network, guarded
			deleted := false
			a.loseReply = func(method, path string) bool {
				if network.late != nil || !isTransaction(method, path) || deleted {
					return false
				}
				deleted = true
				r.must(r.process().Delete(r.ctx, jones().key()))
				return true
			}
			_, err = a.Insert(r.ctx, jones())
			r.must(err)
			if network.late != nil {
				r.must(r.process().Delete(r.ctx, jones().key()))
				network.arrive(r)
			}
			r.absent()
			r.must(r.recover(r.ctx))
			r.absent()
		})
	}
}

// A transaction is refused because of a copy, after an attempt that was not answered.
func TestADuplicateIsUncertainWhileAnAttemptMayArrive(t *testing.T) {
	testRaceInPartition(t, func(r *race) {
		setup := r.process()
		smith := &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: jones().Email}
		_, err := setup.Insert(r.ctx, smith)
		r.must(err)
		a, network := r.behind(isTransaction)
		_, err = a.Insert(r.ctx, jones())
		if !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.Is(err, patterns.ErrExists) {
			t.Errorf("insert: got %v", err)
		}
		r.must(setup.Delete(r.ctx, smith.key()))
		network.arrive(r) // and is applied
		_, err = r.process().Get(r.ctx, jones().key())
		r.must(err)

		_, err = setup.Insert(r.ctx, &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: "taken"})
		r.must(err)
		b, network := r.behind(isTransaction)
		_, err = b.Update(r.ctx, jones().key(), func(h *hire) error { h.Email = "taken"; return nil })
		if !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.As(err, new(*patterns.DuplicateError)) {
			t.Errorf("update: got %v", err)
		}
		r.must(setup.Delete(r.ctx, smith.key()))
		network.arrive(r)
	}, "byEmail")
}

// With an outbox row the same is certain.
func TestADuplicateIsCertainIfTheOutboxRowDecides(t *testing.T) {
	testRace(t, func(r *race) {
		setup := r.process()
		smith := &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: jones().Email}
		_, err := setup.Insert(r.ctx, smith)
		r.must(err)
		a, network := r.behind(isTransaction)
		_, err = a.Insert(r.ctx, withBadge("B7"))
		r.refused("the taken address", err)
		r.must(setup.Delete(r.ctx, smith.key()))
		network.arrive(r)
		r.absent()
	})
}

// The reply to an insert is lost. Another client deletes the entity and inserts its own.
func TestAnotherClientsEntityDoesNotRuleOutAnInsert(t *testing.T) {
	testRaceInPartition(t, func(r *race) {
		a, b := r.process(), r.process()
		replaced := false
		a.loseReply = func(method, path string) bool {
			if replaced || !isTransaction(method, path) {
				return false
			}
			replaced = true
			r.must(b.Delete(r.ctx, jones().key()))
			other := jones()
			other.Age++
			_, err := b.Insert(r.ctx, other)
			r.must(err)
			return true
		}
		if _, err := a.Insert(r.ctx, jones()); !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.Is(err, patterns.ErrExists) {
			t.Errorf("got %v", err)
		}
	})
}

// A process is suspended after it has put its message.
func TestAnOperationThatWasSuspendedStartsOver(t *testing.T) {
	testRace(t, func(r *race) {
		a := r.process()
		suspended := false
		a.sending = func(method, path string) {
			if method != http.MethodPost || isTransaction(method, path) || suspended {
				return
			}
			suspended = true // in the reservation
			time.Sleep(2 * testExpiry)
			r.must(r.recover(r.ctx))
		}
		_, err := a.Insert(r.ctx, withBadge("B7"))
		r.must(err)
		if !suspended {
			r.must(errors.New("the process was not suspended"))
		}
	})
}

// The reply to a transaction is lost. Before the writer reads the outbox row, a worker
// finishes the operation, and a sweeper runs several times.
func TestAWrongClockDoesNotHideACommit(t *testing.T) {
	for _, skew := range []time.Duration{-2 * time.Hour, 2 * testExpiry} {
		testRace(t, func(r *race) {
			a, sweeper := r.process(), &process{}
			sweeper.Process = &harness.Process{Decide: sweeper.decide, Skew: skew}
			_, err := r.start(sweeper)
			r.must(err)
			lost, swept := false, 0
			a.loseReply = func(method, path string) bool {
				first := !lost && isTransaction(method, path)
				lost = lost || first
				return first
			}
			a.sending = func(method, path string) {
				if !lost || swept > 0 {
					return
				}
				r.handle(0)
				for swept < 3 {
					swept++
					time.Sleep(2 * testGrace)
					report, err := sweeper.Sweep(r.ctx, nil)
					r.must(err)
					if report.Young == 0 {
						r.must(fmt.Errorf("the record is not young: %+v", report))
					}
				}
			}
			_, err = a.Insert(r.ctx, withBadge("B7"))
			r.must(err)
			if swept == 0 {
				r.must(errors.New("no reply was lost"))
			}
		})
	}
}
