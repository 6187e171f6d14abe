package dataseries

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Value is what a slot holds.
type Value interface{ int32 | int64 | float64 }

// Series is the series of one kind in one table, all on rings of the same form. It
// may be used by any number of goroutines, starts none, and needs no closing.
type Series[V Value] struct {
	table *patterns.Table[map[string]any]
	ring  Ring
	names []slotNames
	parts int
}

// slotNames are the properties of a slot.
type slotNames struct{ value, turn string }

// ID names a series.
type ID struct {
	Partition string // the partition key, as it is
	Series    string // any text but ""; escaped in the row key
}

// Point is the value of a slot.
type Point[V Value] struct {
	Time  time.Time // when the slot begins, in UTC
	Value V
}

// Options are the options of [New]. There are none yet; nil is fine.
type Options struct{}

// slotsPerRow leaves room for two properties a slot among the 252 of a row, and for
// azp_adds.
const slotsPerRow = 125

// New makes a Series on the client's table. The ring is part of the stored form: it
// must not change while there are rows. New makes no request.
func New[V Value](client *aztables.Client, ring Ring, _ *Options) (*Series[V], error) {
	if ring.slots == 0 {
		return nil, fmt.Errorf("new series: %w", ErrBadRing)
	}
	table, err := patterns.NewTable(client, &patterns.TableOptions[map[string]any]{Keyless: true})
	if err != nil {
		return nil, fmt.Errorf("new series: %w", err)
	}
	names := make([]slotNames, ring.slots)
	for i := range names {
		names[i] = slotNames{fmt.Sprintf("Value%03d", i), fmt.Sprintf("Turn%03d", i)}
	}
	return &Series[V]{table, ring, names, (ring.slots + slotsPerRow - 1) / slotsPerRow}, nil
}

// Client gives back the client that New took.
func (s *Series[V]) Client() *aztables.Client { return s.table.Client() }

// ErrNoID is a series without a name. It matches [patterns.ErrBadKey].
var ErrNoID = fmt.Errorf("%w: the name of the series is empty", patterns.ErrBadKey)

// place is where the slot of a time stands.
type place struct {
	slotNames
	key keys.Key
	at  int64 // the turn
}

func (s *Series[V]) place(id ID, t time.Time) (place, error) {
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return place{}, fmt.Errorf("data series: the year is outside 1 to 9999: %w", patterns.ErrBadKey)
	}
	turn, slot := s.ring.at(t)
	key, err := s.row(id, slot/slotsPerRow)
	return place{s.names[slot], key, turn}, err
}

// row is the key of a part of the series. All parts begin with the first one's.
func (s *Series[V]) row(id ID, part int) (keys.Key, error) {
	if id.Series == "" {
		return keys.Key{}, ErrNoID
	}
	k := keys.Key{Partition: id.Partition, Row: keys.Escape(id.Series) + "_"}
	if part > 0 {
		k.Row += fmt.Sprintf("%02d", part)
	}
	return k, k.Validate()
}

func (p *place) properties(v any) map[string]any {
	return map[string]any{p.value: v, p.turn: p.at}
}

// ErrLate is a value for a slot that holds one of a later turn by now. It is not
// stored.
var ErrLate = errors.New("slot holds a later value")

// Set stores the value of the slot that t is in. It says what the value is, not how
// it changed, so that it can be repeated. One request, which reads nothing; but where
// t is of a turn that is over by this machine's clock, two, and [ErrLate] if the slot
// has come round since.
func (s *Series[V]) Set(ctx context.Context, id ID, t time.Time, v V) error {
	p, err := s.place(id, t)
	if err != nil {
		return err
	}
	if now, _ := s.ring.at(time.Now()); p.at < now {
		return s.change(ctx, p, func(V) (V, error) { return v, nil })
	}
	bag := p.properties(v)
	_, err = s.table.Do(ctx, patterns.UpsertOp(&bag, patterns.Merge).At(p.key))
	return err
}

// SetAll stores several values at once, all or none; of two in one slot the later in
// points counts. One request. Values of a turn that is over by this machine's clock
// are refused with [ErrLate]: use Set for those.
func (s *Series[V]) SetAll(ctx context.Context, id ID, points []Point[V]) error {
	now, _ := s.ring.at(time.Now())
	bags := make(map[keys.Key]map[string]any)
	for i, point := range points {
		p, err := s.place(id, point.Time)
		if err == nil && p.at < now {
			err = ErrLate
		}
		if err != nil {
			return fmt.Errorf("set all: point %d: %w", i, err)
		}
		bag := bags[p.key]
		if bag == nil {
			bag = make(map[string]any)
			bags[p.key] = bag
		}
		if at, ok := bag[p.turn].(int64); ok && at > p.at {
			return fmt.Errorf("set all: point %d: %w", i, ErrLate)
		}
		bag[p.value], bag[p.turn] = point.Value, p.at
	}
	batch := s.table.Batch()
	for key, bag := range bags {
		batch.Add(patterns.UpsertOp(&bag, patterns.Merge).At(key))
	}
	_, err := batch.Commit(ctx)
	return err
}

// Read gives the values of the turn that t is in, in the order of time; slots without
// one are left out, and a series that does not exist has none. One request.
func (s *Series[V]) Read(ctx context.Context, id ID, t time.Time) ([]Point[V], error) {
	turn, _ := s.ring.at(t)
	return s.read(ctx, id, func(at int64, _ int) bool { return at == turn })
}

// Last gives the values of the last round of the ring up to t: for the hours of a day
// those of the 24 hours that end with the one that t is in. One request.
func (s *Series[V]) Last(ctx context.Context, id ID, t time.Time) ([]Point[V], error) {
	turn, slot := s.ring.at(t)
	points, err := s.read(ctx, id, func(at int64, n int) bool {
		return at == turn && n <= slot || at == turn-1 && n > slot
	})
	// What is left of the turn before comes first.
	for i := range points {
		if of, _ := s.ring.at(points[i].Time); of < turn {
			return append(append([]Point[V]{}, points[i:]...), points[:i]...), err
		}
	}
	return points, err
}

// read gives the wanted values in the order of slots.
func (s *Series[V]) read(ctx context.Context, id ID, want func(turn int64, slot int) bool) ([]Point[V], error) {
	first, err := s.row(id, 0)
	if err != nil {
		return nil, err
	}
	rows := make(map[keys.Key]map[string]any, s.parts)
	if s.parts == 1 {
		item, err := s.table.Get(ctx, first)
		if err != nil && !errors.Is(err, patterns.ErrNotFound) {
			return nil, err
		}
		rows[first] = item.Value
	} else {
		filter := query.And(query.PartitionKey.Eq(id.Partition), query.RowKey.Within(keys.Prefix(first.Row)))
		for item, err := range s.table.Query(ctx, filter, nil) {
			if err != nil {
				return nil, err
			}
			rows[item.Key] = item.Value
		}
	}
	var points []Point[V]
	var row map[string]any
	for slot, names := range s.names {
		if slot%slotsPerRow == 0 {
			key, err := s.row(id, slot/slotsPerRow)
			if err != nil {
				return nil, err
			}
			row = rows[key]
		}
		at, ok := valueOf[int64](row[names.turn])
		if !ok || !want(at, slot) {
			continue
		}
		v, fits := valueOf[V](row[names.value])
		if !fits {
			return nil, s.misfit(names.value, row[names.value])
		}
		points = append(points, Point[V]{s.ring.start(at, slot), v})
	}
	return points, nil
}

// misfit is a stored value that is not one of the series.
func (s *Series[V]) misfit(property string, stored any) error {
	var v V
	return &patterns.PropertyError{Property: property, Want: fmt.Sprintf("a value of type %T", v), Got: fmt.Sprintf("one of type %T", stored)}
}

// valueOf is a stored value as a V. An Int32 is taken for a whole number of a wider
// type: other writers may have stored it so.
func valueOf[V Value](stored any) (v V, fits bool) {
	if v, ok := stored.(V); ok {
		return v, true
	}
	n, ok := stored.(int32)
	return V(n), ok
}

// ErrOverflow is an addition beyond what the type of the values can hold. Nothing is
// stored.
var ErrOverflow = errors.New("sum is beyond the type of the values")

// add is a+b where that can be held.
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
