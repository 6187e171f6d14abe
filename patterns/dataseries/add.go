package dataseries

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/patterns"
)

// Add adds delta to the slot that t is in; a slot without a value of that turn counts
// as zero. However replies get lost and however many others write, delta is added
// once or not at all. Two requests without a race, two more for each lost one.
//
// [ErrLate] where the slot holds a later turn's value, [ErrOverflow] where the sum
// cannot be held; then nothing is stored. [patterns.ErrOutcomeUnknown] where the
// service could not be asked any more, or where more than 48 additions of others came
// between a lost reply and the next look. [patterns.ErrConflict] where others were
// faster 64 times in a row.
func (s *Series[V]) Add(ctx context.Context, id ID, t time.Time, delta V) error {
	p, err := s.place(id, t)
	if err != nil {
		return err
	}
	return s.change(ctx, p, func(old V) (V, error) { return add(old, delta) })
}

const (
	addsName    = "azp_adds" // identities of the last changes, newest first
	keptAdds    = 48
	addLen      = 8 // characters, 40 random bits: enough among 48
	changeTries = 64
)

// change does a read-modify-write of one slot under an identity of its own.
func (s *Series[V]) change(ctx context.Context, p place, next func(old V) (V, error)) error {
	c := changing[V]{series: s, place: p, next: next, self: rand.Text()[:addLen]}
	for try := 1; ; try++ {
		err := c.attempt(ctx)
		switch {
		case errors.Is(err, patterns.ErrOutcomeUnknown), errors.Is(err, patterns.ErrConflict), errors.Is(err, patterns.ErrExists):
		default:
			return c.verdict(err)
		}
		if try == changeTries || ctx.Err() != nil {
			return c.verdict(err)
		}
		if c.open != nil {
			continue // look at once, before the row forgets; the SDK has waited
		}
		if err := parallel.Pause(ctx, try); err != nil {
			return c.verdict(err)
		}
	}
}

// changing is a change under way.
type changing[V Value] struct {
	series *Series[V]
	place  place
	next   func(old V) (V, error)
	self   string // the identity
	open   *look  // what the last write was made on, while it may still be carried out
}

// look is a row as it was read.
type look struct {
	item    patterns.Item[map[string]any]
	missing bool
	adds    []string // the identities it remembers
}

func (l *look) same(m *look) bool { return l.missing == m.missing && l.item.ETag == m.item.ETag }

// since reports whether l remembers all changes after m.
func (l *look) since(m *look) bool {
	if len(m.adds) == 0 {
		return len(l.adds) < keptAdds
	}
	return slices.Contains(l.adds, m.adds[0])
}

// errForgotten is a row that remembers too little to tell of a write.
var errForgotten = errors.New("too many others wrote meanwhile")

// attempt reads the row, and writes the slot unless the row shows that it is done.
func (c *changing[V]) attempt(ctx context.Context) error {
	now, err := c.look(ctx)
	if err != nil || slices.Contains(now.adds, c.self) {
		c.settled(err == nil)
		return err
	}
	if c.open != nil && !c.open.same(now) {
		// A write under the ETag of a version that is no more cannot be carried out
		// any later. Whether it was before, the row tells.
		if !now.since(c.open) {
			return errForgotten
		}
		c.open = nil
	}
	v, err := c.value(now)
	if err != nil {
		return err
	}
	bag := c.place.properties(v)
	op := patterns.InsertOp(&bag).At(c.place.key)
	if !now.missing {
		op = patterns.MergeOp(patterns.WithValue(now.item, bag))
	}
	adds := append([]string{c.self}, now.adds[:min(len(now.adds), keptAdds-1)]...)
	_, err = c.series.table.Do(ctx, op.With(addsName, strings.Join(adds, ".")))
	if errors.Is(err, patterns.ErrOutcomeUnknown) {
		c.open = now
	}
	c.settled(err == nil)
	return err
}

func (c *changing[V]) settled(done bool) {
	if done {
		c.open = nil
	}
}

func (c *changing[V]) look(ctx context.Context) (*look, error) {
	item, err := c.series.table.Get(ctx, c.place.key)
	l := &look{item: item, missing: errors.Is(err, patterns.ErrNotFound)}
	if err != nil && !l.missing {
		return nil, err
	}
	text, _ := item.Property(addsName)
	if list, ok := text.(string); ok && list != "" {
		l.adds = strings.Split(list, ".")
	}
	return l, nil
}

// value is what the slot is to hold.
func (c *changing[V]) value(now *look) (V, error) {
	var old V
	switch at, has := valueOf[int64](now.item.Value[c.place.turn]); {
	case has && at > c.place.at:
		return old, fmt.Errorf("data series: %w", ErrLate)
	case has && at == c.place.at:
		stored, fits := now.item.Value[c.place.value], false
		if old, fits = valueOf[V](stored); !fits {
			return old, c.series.misfit(c.place.value, stored)
		}
	}
	v, err := c.next(old)
	if err != nil {
		err = fmt.Errorf("data series: %w", err)
	}
	return v, err
}

// verdict is err, or what it means while a write of ours is still open.
func (c *changing[V]) verdict(err error) error {
	if err != nil && c.open != nil && !errors.Is(err, patterns.ErrOutcomeUnknown) {
		return fmt.Errorf("data series: %w: %w", patterns.ErrOutcomeUnknown, err)
	}
	return err
}
