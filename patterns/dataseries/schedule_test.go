package dataseries_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/dataseries"
)

// Clients change a ring of two slots of 30 seconds, while requests and replies are lost or
// arrive late, and processes are killed or paused. The results of each slot have an order in
// which each successful change takes effect once, between its call and its return, a refused
// one never, and one of unknown outcome once at most.
func TestTheResultsOfASeriesHaveAnOrder(t *testing.T) {
	modes := []string{"plain", "accelerated", "plain, with Set", "accelerated, with Set", "accelerated, guide's layout, with Set"}
	harness.Schedules(t, modes, 5, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.DrawFaults(14 * time.Minute)
		s.Faults.Deny = float64(s.IntN(3)) / 20
		r := &seriesRun{Schedule: s, mode: mode, retries: int32(s.IntN(4)) - 1, slots: map[int][]porcupine.Operation{}, turns: map[int64]bool{}}
		ring, err := dataseries.Steps(2, slotLength)
		if err != nil {
			panic(err)
		}
		r.ring = ring
		setup := r.series(s.Reliable())
		if err := setup.Create(ctx); err != nil {
			s.Failf("create: %w", err)
		}
		var clients sync.WaitGroup
		for n := range 2 + s.IntN(2) {
			chance := rand.New(rand.NewPCG(s.Seed, uint64(n+1)))
			clients.Go(func() { r.client(ctx, 100*n, chance) })
		}
		clients.Wait()
		s.WaitLate()
		for turn := range r.turns {
			r.read(ctx, setup, time.Unix(turn*60, 0))
		}
		for slot, ops := range r.slots {
			if !porcupine.CheckOperations(slotModel, ops) {
				s.Failf("the results of slot %d have no order: %+v", slot, ops)
			}
		}
	})
}

const slotLength = 30 * time.Second

// slotState is the content of a slot.
type slotState struct{ turn, value int64 }

// slotOp is an operation on a slot: the input.
type slotOp struct {
	kind        string // read, add, update or set
	turn, value int64  // that was added or stored
}

// slotResult is what the client learned: the output.
type slotResult struct {
	harness.Outcome
	saw int64 // read, or passed to the last call of an update's function; 0 if there is no value
}

const late = "refused: the slot contains a later turn"

var slotModel = porcupine.Model{
	Init: func() any { return slotState{turn: math.MinInt64} },
	Step: func(state, input, output any) (bool, any) {
		slot, op, res := state.(slotState), input.(slotOp), output.(slotResult)
		old := int64(0)
		if slot.turn == op.turn {
			old = slot.value
		}
		next := slotState{op.turn, op.value}
		switch {
		case op.kind == "read":
			return old == res.saw, slot
		case res.Outcome == late:
			return slot.turn > op.turn, slot
		case res.Outcome == harness.NeverRan:
			return true, slot
		case op.kind == "add":
			next.value += old
		}
		// A Set without a condition hides a later turn; the others refuse to.
		if op.kind != "set" && slot.turn > op.turn || op.kind == "update" && old != res.saw {
			return res.Outcome == harness.Unknown, slot // it is refused
		}
		return true, next
	},
	Equal: func(a, b any) bool { return a == b },
}

type seriesRun struct {
	*harness.Schedule
	mode    string
	retries int32
	ring    dataseries.Ring

	mu    sync.Mutex
	slots map[int][]porcupine.Operation
	turns map[int64]bool
}

func (r *seriesRun) series(p *harness.Process) *dataseries.Series[int64] {
	service, err := p.Tables(strings.HasPrefix(r.mode, "accelerated"), r.retries)
	if err != nil {
		panic(err)
	}
	var opts dataseries.Options
	if r.withoutTurns() {
		opts.Property = "MessageCount"
	}
	s, err := dataseries.New[int64](service.NewClient("series"), r.ring, &opts)
	if err != nil {
		panic(err)
	}
	return s
}

// withoutTurns reports whether the rows do not store turns: then there is only one, 0.
func (r *seriesRun) withoutTurns() bool { return strings.Contains(r.mode, "guide") }

// locate returns the turn and the slot of a time, independently of package dataseries.
func (r *seriesRun) locate(t time.Time) (turn int64, slot int) {
	if !r.withoutTurns() {
		turn = t.Unix() / 60
	}
	return turn, int(t.Unix() / 30 % 2)
}

func (r *seriesRun) add(slot int, began time.Time, op slotOp, res slotResult) {
	o := porcupine.Operation{Input: op, Output: res, Call: began.UnixNano(), Return: time.Now().UnixNano()}
	if res.Outcome == harness.Unknown {
		o.Return = math.MaxInt64
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slots[slot] = append(r.slots[slot], o)
	r.turns[op.turn] = true
}

func (r *seriesRun) client(ctx context.Context, number int, chance *rand.Rand) {
	var p *harness.Process
	var s *dataseries.Series[int64]
	for i := range 2 + chance.IntN(4) {
		if p == nil || p.Dead() {
			p = r.Process(number + i)
			s = r.series(p)
		}
		time.Sleep(time.Duration(chance.IntN(20)) * time.Second)
		t := time.Now().Add(time.Duration(chance.IntN(3)-1) * slotLength)
		switch chance.IntN(4) {
		case 0:
			r.read(ctx, s, t)
		default:
			r.change(ctx, p, s, t, int64(1)<<(number/100*8+i), chance.IntN(3))
		}
	}
}

func (r *seriesRun) read(ctx context.Context, s *dataseries.Series[int64], t time.Time) {
	began := time.Now()
	turn, _ := r.locate(t)
	points, err := s.Get(ctx, ken, t)
	if err != nil {
		return
	}
	var values [2]int64
	for _, point := range points {
		of, slot := r.locate(point.Time)
		if of != turn || values[slot] != 0 {
			r.Failf("read of turn %d returned %v", turn, points)
		}
		values[slot] = point.Value
	}
	for slot, v := range values {
		r.add(slot, began, slotOp{kind: "read", turn: turn}, slotResult{harness.Applied, v})
	}
}

// change makes a change of the slot of t. Values are powers of two, so that a sum shows each
// of its terms.
//
// A Set of a turn that has not ended has no condition. Each of its unanswered attempts may
// take effect once more, at any time. The documentation of Set states it.
func (r *seriesRun) change(ctx context.Context, p *harness.Process, s *dataseries.Series[int64], t time.Time, v int64, kind int) {
	began := time.Now()
	turn, slot := r.locate(t)
	op := slotOp{turn: turn, value: v}
	ctx, unanswered := harness.CountUnanswered(ctx)
	var saw int64
	var err error
	again := 0
	switch {
	case kind == 0:
		op.kind = "update"
		err = s.Update(ctx, ken, t, func(old int64) (int64, error) {
			saw = old
			return v, nil
		})
	case kind == 1 && strings.HasSuffix(r.mode, "with Set"):
		op.kind = "set"
		if now, _ := r.locate(began); turn < now {
			op.kind = "set late"
		}
		err = s.Set(ctx, ken, t, v)
		if op.kind == "set" {
			again = int(unanswered.Load())
		}
	default:
		op.kind = "add"
		err = s.Add(ctx, ken, t, v)
	}
	res := slotResult{harness.NeverRan, saw}
	switch {
	case p.Dead(), errors.Is(err, patterns.ErrOutcomeUnknown):
		res.Outcome = harness.Unknown
	case err == nil:
		res.Outcome = harness.Applied
	case errors.Is(err, dataseries.ErrLate):
		res.Outcome = late
	}
	r.Log("slot %d %+v: %+v %v", slot, op, res, err)
	r.add(slot, began, op, res)
	if res.Outcome == harness.NeverRan {
		again = 0
	}
	for range again {
		r.add(slot, began, op, slotResult{Outcome: harness.Unknown})
	}
}
