package storagetest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// post sends a request with a body, and returns its error.
func post(t *testing.T, tr *storagetest.Script, body string) error {
	t.Helper()
	_, err := send(t, tr, http.MethodPost, base+"/People", body)
	return err
}

func TestALateRequestArrivesBeforeTheNextRequestAfterItsDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		tr := storagetest.Wrap(s, nil)
		script(t, tr, storagetest.On("*").Nth(1).LateRequest(5*time.Second, 5*time.Second))
		start := time.Now()
		if err := post(t, tr, "late"); !errors.Is(err, syscall.ECONNRESET) || time.Since(start) != 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		post(t, tr, "retry")
		time.Sleep(4 * time.Second)
		post(t, tr, "too early")
		time.Sleep(time.Second)
		post(t, tr, "next")
		post(t, tr, "last")
		assert.EqualSlices(t, s.sent, []string{"retry", "too early", "late", "next", "last"}, "carried out")
	})
}

func TestTheLogShowsWhenALateRequestArrived(t *testing.T) {
	tr := storagetest.Wrap(&service{}, nil)
	script(t, tr, storagetest.On("*").Nth(1).LateRequest(0, 0))
	post(t, tr, "late")
	if q := tr.Log()[0]; q.Sent || q.Status != 0 || q.Fault != ".LateRequest(0s, 0s)" || !errors.Is(q.Err, syscall.ECONNRESET) {
		t.Errorf("on its way: %+v", q)
	}
	post(t, tr, "next")
	log := tr.Log()
	if q := log[0]; !q.Sent || q.Status != http.StatusOK || q.Fault != ".LateRequest(0s, 0s).Arrived" || !errors.Is(q.Err, syscall.ECONNRESET) {
		t.Errorf("arrived: %+v", q)
	}
	if q := log[1]; len(log) != 2 || q.Fault != ".After(Table.Insert #1)" {
		t.Errorf("the next request: %v", log)
	}
}

func TestALateRequestOutlivesItsSender(t *testing.T) {
	s := &service{}
	first := storagetest.Wrap(s, nil)
	next := storagetest.Wrap(first.Inner(), nil)
	script(t, first, storagetest.On("*").Nth(1).LateRequest(time.Hour, time.Hour))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := sendCtx(t, ctx, first, http.MethodPost, base+"/People", "late")
	cancel()
	first.Kill(first.Last()+1, storagetest.DeathBefore, func() {})
	if killed := post(t, first, "killed"); !errors.Is(err, syscall.ECONNRESET) || !errors.Is(killed, storagetest.ErrKilled) {
		t.Errorf("%v, %v", err, killed)
	}
	post(t, next, "next")
	if n := next.Arrive(); n != 1 || next.Arrive() != 0 || first.Arrive() != 0 {
		t.Errorf("%d late requests", n)
	}
	assert.EqualSlices(t, s.sent, []string{"next", "late"}, "carried out")
}

func TestLateRequestsArriveInTheOrderOfTheirDelays(t *testing.T) {
	for name, arrive := range map[string]func(*storagetest.Script){
		"all at the same request": func(tr *storagetest.Script) { time.Sleep(time.Hour); post(t, tr, "next") },
		"by Arrive":               func(tr *storagetest.Script) { tr.Arrive(); post(t, tr, "next") },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{}
			tr := storagetest.Wrap(s, nil)
			for i, d := range []time.Duration{2, 1, 1, 3} {
				script(t, tr, storagetest.On("*").Nth(1).LateRequest(d, d))
				post(t, tr, fmt.Sprint(i))
			}
			arrive(tr)
			assert.EqualSlices(t, s.sent, []string{"1", "2", "0", "3", "next"}, name, "carried out")
		})
	}
}

func TestTheSeedDeterminesTheDelayOfALateRequest(t *testing.T) {
	delay := func(seed uint64) (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			s := &service{}
			tr := storagetest.Wrap(s, &storagetest.Options{Seed: seed})
			script(t, tr, storagetest.On("*").Nth(1).LateRequest(time.Second, time.Minute))
			post(t, tr, "late")
			start := time.Now()
			for !slices.Contains(s.sent, "late") {
				time.Sleep(20 * time.Millisecond)
				post(t, tr, "next")
			}
			if d = time.Since(start); d < time.Second || d > time.Minute || !tr.Random() {
				t.Errorf("seed %d: %v, random %v", seed, d, tr.Random())
			}
		})
		return d
	}
	if a, b, c := delay(7), delay(7), delay(8); a != b || a == c {
		t.Errorf("%v and %v with the same seed, %v with another one", a, b, c)
	}
	for _, r := range []storagetest.Rule{storagetest.On("*").LateRequest(-1, 1), storagetest.On("*").LateRequest(2, 1)} {
		assert.Contains(t, mistake(r), ".LateRequest(", r)
	}
}

func TestTheRequestInFlightAtTheDeathArrivesLater(t *testing.T) {
	for _, c := range []struct {
		how  storagetest.Death
		wait time.Duration
		want string
	}{
		{storagetest.DeathLate(0, time.Hour), 0, "one, two, a, b, c"},
		{storagetest.DeathLate(2, time.Hour), 0, "one, a, b, two, c"},
		{storagetest.DeathLate(1_000, time.Second), time.Second, "one, a, two, b, c"},
		{storagetest.DeathLate(1_000, time.Hour), time.Second, "one, a, b, c, two"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{}
			dying := storagetest.Wrap(s, nil)
			deaths := 0
			dying.Kill(2, c.how, func() { deaths++ })
			for _, body := range []string{"one", "two", "three"} {
				if err := post(t, dying, body); errors.Is(err, storagetest.ErrKilled) != (body != "one") {
					t.Errorf("%s: %v", body, err)
				}
			}
			next := storagetest.Wrap(dying.Inner(), nil)
			post(t, next, "a")
			time.Sleep(c.wait)
			post(t, next, "b")
			post(t, next, "c")
			next.Arrive()
			if got := strings.Join(s.sent, ", "); got != c.want || deaths != 1 {
				t.Errorf("%+v: carried out %s, want %s; died %d times", c.how, got, c.want, deaths)
			}
		})
	}
}

func TestALostOrRefusedRequestInFlightDoesNotArrive(t *testing.T) {
	for _, rule := range []storagetest.Rule{storagetest.On("*").LoseRequest(), storagetest.On("*").Status(503, "ServerBusy")} {
		s := &service{}
		tr := storagetest.Wrap(s, nil)
		script(t, tr, rule)
		tr.Kill(1, storagetest.DeathLate(0, 0), func() {})
		if err := post(t, tr, "x"); !errors.Is(err, storagetest.ErrKilled) || tr.Arrive() != 0 || len(s.sent) != 0 {
			t.Errorf("%v: %v, carried out %q", rule, err, s.sent)
		}
	}
}
