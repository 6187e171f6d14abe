package harness

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// step is an operation of a history, from one second to another.
type step struct {
	from, to int
	Action
	Result
	again int
}

func TestAHistoryHasAnOrderOnlyIfEachResultCanBeTrue(t *testing.T) {
	insert, remove, read := Action{Kind: InsertRow, A: "a"}, Action{Kind: Remove}, Action{Kind: Read}
	ok, exists, unknown := Result{Outcome: Applied}, Result{Outcome: Exists}, Result{Outcome: Unknown}
	a, none := Result{Outcome: Applied, Row: Row{Exists: true, A: "a", ETag: "1"}}, Result{Outcome: Applied}
	for name, c := range map[string]struct {
		steps []step
		valid bool
	}{
		"inserted, read":                          {[]step{{1, 2, insert, ok, 0}, {3, 4, read, Result{Outcome: Applied, Row: Row{Exists: true, A: "a"}}, 0}}, true},
		"inserted, lost":                          {[]step{{1, 2, insert, ok, 0}, {3, 4, read, none, 0}}, false},
		"refused, applied":                        {[]step{{1, 2, insert, exists, 0}, {3, 4, read, a, 0}}, false},
		"unknown, applied late":                   {[]step{{1, 2, insert, unknown, 0}, {3, 4, read, none, 0}, {5, 6, read, a, 0}}, true},
		"unknown, never applied":                  {[]step{{1, 2, insert, unknown, 0}, {3, 4, read, none, 0}}, true},
		"applied again after a remove":            {[]step{{1, 2, insert, ok, 0}, {3, 4, remove, ok, 0}, {5, 6, read, a, 0}}, false},
		"applied again, which is permitted":       {[]step{{1, 2, insert, ok, 1}, {3, 4, remove, ok, 0}, {5, 6, read, a, 0}}, true},
		"replaced under the ETag of another row":  {[]step{{1, 2, insert, a, 0}, {3, 4, Action{Kind: ReplaceRow, A: "b", ETag: "0"}, ok, 0}}, false},
		"replaced under the ETag of the row":      {[]step{{1, 2, insert, a, 0}, {3, 4, Action{Kind: ReplaceRow, A: "b", ETag: "1"}, ok, 0}}, true},
		"an update of a version that was not met": {[]step{{1, 2, insert, a, 0}, {3, 4, Action{Kind: UpdateRow, A: "b", Saw: "c"}, ok, 0}}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			var h History
			start := time.Now()
			for _, s := range c.steps {
				time.Sleep(time.Until(start.Add(time.Duration(s.to) * time.Second)))
				h.Add("x", start.Add(time.Duration(s.from)*time.Second), s.Action, s.Result, s.again)
			}
			if err := h.Check(); (err == nil) != c.valid {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// Some of the histories are what a row can do, and others have one wrong result.
func TestBoundsOfOperationsDoNotChangeTheResultOfACheck(t *testing.T) {
	var valid, invalid, shorter int
	for seed := range uint64(20_000) {
		chance := rand.New(rand.NewPCG(seed, 0))
		var ops []porcupine.Operation
		row := Row{}
		for i := range 3 + chance.IntN(5) {
			kind := []Kind{Read, Read, Read, InsertRow, PutRow, PutMerge, UpdateRow, Remove, TouchRow}[chance.IntN(9)]
			a := Action{Kind: kind}
			if a.writes() {
				a.A, a.B = fmt.Sprint(chance.IntN(6)), fmt.Sprint("b", chance.IntN(12))
			}
			if kind == UpdateRow {
				a.Saw = row.A
			}
			next, ok := a.next(row)
			res := Result{Outcome: Applied, Row: Row{ETag: fmt.Sprint(i)}}
			at := int64(10*i + 10)
			op := porcupine.Operation{Input: a, Call: at - chance.Int64N(20), Return: at + chance.Int64N(20)}
			further := 0
			switch {
			case kind == Read:
				res.Row = row
			case chance.IntN(2) == 0:
				res, op.Return, further = Result{Outcome: Unknown}, math.MaxInt64, chance.IntN(2)
				if chance.IntN(3) == 0 {
					next = row
				}
				next.ETag = ""
			case chance.IntN(8) == 0:
				res, next = Result{Outcome: NeverRan}, row
			case !ok && next.Exists:
				res.Outcome = Exists
			case !ok:
				res.Outcome = Missing
			default:
				next.ETag = res.Row.ETag
			}
			if chance.IntN(20) == 0 {
				res.Row.A = fmt.Sprint(chance.IntN(6))
			}
			row, op.Output = next, res
			ops = append(ops, op)
			for range further {
				op.Output, op.Return = Result{Outcome: Unknown}, math.MaxInt64
				ops = append(ops, op)
			}
		}
		want := porcupine.CheckOperations(rowModel, ops)
		for i, some := range bounded(ops) {
			got := porcupine.CheckOperations(rowModel, some)
			if got && !want || i == 2 && got != want {
				t.Fatalf("seed %d: %v, with bounds %v: %+v", seed, want, got, ops)
			}
			if got && len(some) < len(ops) {
				shorter++
				break
			}
		}
		if want {
			valid++
		} else {
			invalid++
		}
	}
	t.Logf("%d valid, %d of them by fewer operations, %d invalid", valid, shorter, invalid)
	if min(valid, invalid, shorter) == 0 {
		t.Error("the histories do not differ enough")
	}
}

func TestALateRequestOfADeadProcessIsCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late sync.WaitGroup
		acct := storagetest.Start(&storagetest.Options{ClockSkew: 10 * time.Minute})
		p := &Process{Inner: acct.Transport(), Late: &late, Skew: time.Hour}
		service, err := p.Tables(true, 0)
		assert.NoError(t, err)
		table := service.NewClient("docs")
		_, err = table.CreateTable(t.Context(), nil)
		assert.NoError(t, err)
		p.Decide = func(string, string) Fate { return Fate{What: ArrivesLate, Late: time.Minute, Dies: true} }
		_, err = table.AddEntity(t.Context(), []byte(`{"PartitionKey":"p","RowKey":"r"}`), nil)
		assert.WantError(t, err, ErrDead)
		_, err = table.GetEntity(t.Context(), "p", "r", nil)
		assert.WantError(t, err, ErrDead)

		next, err := (&Process{Inner: p.Inner, Skew: time.Hour}).Tables(true, 0)
		assert.NoError(t, err)
		_, err = next.NewClient("docs").GetEntity(t.Context(), "p", "r", nil)
		if err == nil || !strings.Contains(err.Error(), "ResourceNotFound") {
			t.Errorf("before the request arrives: %v", err)
		}
		late.Wait()
		row, err := next.NewClient("docs").GetEntity(t.Context(), "p", "r", nil)
		assert.NoError(t, err)
		if want := time.Now().Add(10*time.Minute - time.Hour).UTC().Format(`"Timestamp":"2006-01-02T15:04`); !strings.Contains(string(row.Value), want) {
			t.Errorf("by a clock that is an hour ahead of that of the account: %s", row.Value)
		}
	})
}

func TestASeedRepeatsTheFaultsOfASchedule(t *testing.T) {
	fates := func(seed uint64) (all []Fate) {
		synctest.Test(t, func(t *testing.T) {
			s := &Schedule{Seed: seed, Faults: Faults{Lose: 0.3, Late: 0.3, Fail: 0.3, Lateness: time.Hour, Latency: time.Minute}}
			p := s.Process(1)
			for range 50 {
				all = append(all, p.Decide(http.MethodPost, "/t"))
			}
		})
		return all
	}
	first, other, seen := fates(1), fates(2), map[Delivery]bool{}
	differ := false
	for i, again := range fates(1) {
		assert.Equal(assert.Now(t), again, first[i], "request", i, "then")
		differ = differ || other[i] != first[i]
		seen[again.What] = true
	}
	if !differ || len(seen) < 5 {
		t.Errorf("another seed differs: %v; %v", differ, seen)
	}
}
