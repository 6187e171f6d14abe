package dataseries

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/patterns"
)

// ErrOverflow means that the type of the values cannot represent a sum. Nothing was
// stored.
var ErrOverflow = azerr.Sentinel("sum overflows the type of the values")

// Add adds delta to the value of the slot that contains t. A slot without a value of that
// turn counts as zero. If Add returns nil, delta was added exactly once, whatever replies
// were lost and however many other writers there are. If it returns an error other than
// [patterns.ErrOutcomeUnknown], delta was not added. Add makes two requests, and two more
// after each conflict.
//
// A slot that contains an Int32 keeps this type, whatever V is. If it cannot represent the sum,
// nothing is stored, and the error is a [*patterns.PropertyError].
//
// Add returns [ErrLate] if the slot contains a value of a later turn, and [ErrOverflow] if
// the sum cannot be represented. It returns [patterns.ErrConflict] after 64 conflicts in a
// row. It returns [patterns.ErrOutcomeUnknown] if a reply was lost and either the row could
// not be read afterwards, or other writers made more than 48 changes before it was read. With
// [Options.Property] one change may be enough, see the package documentation.
func (s *Series[V]) Add(ctx context.Context, id ID, t time.Time, delta V) error {
	c, err := s.cell(id, t)
	if err != nil {
		return err
	}
	return s.change(ctx, c, func(old V) (V, error) {
		sum, err := add(old, delta)
		if err != nil {
			err = fmt.Errorf("data series: %w", err)
		}
		return sum, err
	})
}

// Update stores what change returns for the value of the slot that contains t; a slot
// without a value of that turn counts as zero. It is the conditional form of Set: the
// value is stored only if the row is still the one that was read, so a late attempt neither
// overwrites a later write nor hides a later turn. It makes as many requests as Add and has
// the same errors, except ErrOverflow. change may be called several times. An error from
// change ends the update and is returned as it is; nothing was stored, unless the error also
// matches [patterns.ErrOutcomeUnknown].
func (s *Series[V]) Update(ctx context.Context, id ID, t time.Time, change func(old V) (V, error)) error {
	if change == nil {
		return fmt.Errorf("data series: function: %w", patterns.ErrNil)
	}
	c, err := s.cell(id, t)
	if err != nil {
		return err
	}
	return s.change(ctx, c, change)
}

// add returns a+b, or ErrOverflow.
func add[V Value](a, b V) (V, error) {
	sum := a + b
	if f, ok := any(sum).(float64); ok {
		if math.IsInf(f, 0) && !math.IsInf(float64(a), 0) && !math.IsInf(float64(b), 0) {
			return a, ErrOverflow
		}
		return sum, nil
	}
	if (b > 0) != (sum > a) && b != 0 {
		return a, ErrOverflow
	}
	return sum, nil
}

const (
	addsProperty = "azp_adds" // IDs of the last changes, newest first
	keptIDs      = 48
	idLen        = 8 // characters, 40 random bits: enough to distinguish 48 changes
	maxTries     = 64
)

// change replaces the value of one cell, on the condition that its row has not changed.
func (s *Series[V]) change(ctx context.Context, c cell, next func(old V) (V, error)) error {
	p := changing[V]{series: s, cell: c, next: next, id: rand.Text()[:idLen]}
	for try := 1; ; try++ {
		err := p.attempt(ctx)
		switch {
		case errors.Is(err, patterns.ErrOutcomeUnknown), errors.Is(err, patterns.ErrConflict), errors.Is(err, patterns.ErrExists):
		default:
			return p.outcome(err)
		}
		if try == maxTries || ctx.Err() != nil {
			return p.outcome(err)
		}
		if p.unresolved != nil {
			continue // read the row before it forgets the ID; the SDK has already waited
		}
		if err := calls.Pause(ctx, try); err != nil {
			return p.outcome(err)
		}
	}
}

// changing is a change in progress.
type changing[V Value] struct {
	series *Series[V]
	cell   cell
	next   func(old V) (V, error)
	id     string // of the change

	// unresolved is the version that the last write was conditional on, as long as that
	// write may have been or may still be carried out.
	unresolved *version
	unknown    error // of that write
}

// version is a row as it was read.
type version struct {
	item    patterns.Item[map[string]any]
	missing bool
	ids     []string // of the last changes
}

func (v *version) same(w *version) bool { return v.missing == w.missing && v.item.ETag == w.item.ETag }

// remembersSince reports whether v contains the IDs of all changes after w. shared means
// that a program that does not know the IDs may have removed them.
func (v *version) remembersSince(w *version, shared bool) bool {
	if len(w.ids) == 0 {
		return !shared && len(v.ids) < keptIDs
	}
	return slices.Contains(v.ids, w.ids[0])
}

// errForgotten means that the row no longer shows whether a write was carried out.
var errForgotten = azerr.Sentinel("too many other writes since")

// attempt reads the row, and writes the cell unless the row shows that the change was
// already made.
func (p *changing[V]) attempt(ctx context.Context) error {
	now, err := p.read(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(now.ids, p.id) {
		p.unresolved = nil
		return nil
	}
	if p.unresolved != nil && !p.unresolved.same(now) {
		// The row has changed, so a write on the condition of the earlier version can no longer
		// be carried out. The IDs in the row show whether it was.
		if !now.remembersSince(p.unresolved, p.series.shared) {
			return errForgotten
		}
		p.unresolved = nil
	}
	v, err := p.value(now)
	if err != nil {
		return err
	}
	properties := map[string]any{}
	p.cell.set(properties, v)
	op := patterns.InsertOp(&properties).At(p.cell.key)
	if !now.missing {
		op = patterns.MergeOp(patterns.WithValue(now.item, properties))
	}
	if p.cell.logged {
		ids := append([]string{p.id}, now.ids[:min(len(now.ids), keptIDs-1)]...)
		op = op.With(addsProperty, strings.Join(ids, "."))
	}
	_, err = p.series.table.Do(ctx, op)
	switch {
	case err == nil:
		p.unresolved = nil
	case errors.Is(err, patterns.ErrOutcomeUnknown):
		p.unresolved, p.unknown = now, err
	}
	return err
}

func (p *changing[V]) read(ctx context.Context) (*version, error) {
	item, err := p.series.table.Get(ctx, p.cell.key)
	v := &version{item: item, missing: errors.Is(err, patterns.ErrNotFound)}
	if err != nil && !v.missing {
		return nil, err
	}
	text, _ := item.Property(addsProperty)
	if list, ok := text.(string); ok && list != "" {
		v.ids = strings.Split(list, ".")
	}
	return v, nil
}

// value returns the new value of the cell, in the type in which the slot has one.
func (p *changing[V]) value(now *version) (any, error) {
	var old V
	var stored any
	switch turn, found := p.cell.turnIn(now.item.Value, p.cell.turnAt); {
	case found && turn > p.cell.turnAt:
		return nil, fmt.Errorf("data series: %w", ErrLate)
	case found && turn == p.cell.turnAt:
		stored = now.item.Value[p.cell.value]
		var ok bool
		if old, ok = valueOf[V](stored); !ok {
			return nil, p.series.wrongType(p.cell.value, stored)
		}
	}
	v, err := p.next(old)
	if _, narrow := stored.(int32); !narrow || err != nil {
		return v, err
	}
	if x := float64(v); !(x >= math.MinInt32 && x <= math.MaxInt32 && x == math.Trunc(x)) {
		return nil, &patterns.PropertyError{Property: p.cell.value, Want: "a value that fits the stored type, Int32", Got: fmt.Sprintf("another one of type %T", v)}
	}
	return int32(v), nil
}

// outcome returns err. If a write is still unresolved, the error matches
// [patterns.ErrOutcomeUnknown].
func (p *changing[V]) outcome(err error) error {
	if p.unresolved != nil {
		return sdkerr.StillUnknown(p.unknown, err)
	}
	return err
}
