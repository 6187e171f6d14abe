package dataseries

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Value is the type of a slot's value.
type Value interface{ int32 | int64 | float64 }

// Series is a set of series in one table that use the same Ring. It is safe for concurrent
// use, starts no goroutine, and need not be closed.
type Series[V Value] struct {
	table *patterns.Table[map[string]any]
	ring  Ring
	layout
}

// ID identifies a series.
type ID struct {
	Partition string // the partition key, unchanged
	Series    string // any text but ""; it is escaped in the row key
}

// Point is the value of a slot.
type Point[V Value] struct {
	Time  time.Time // start of the slot, in UTC
	Value V
}

// Options are the options of [New]. nil and the zero value select the layout of this
// package.
type Options struct {
	// Property is for tables that other programs use: the values are the properties with
	// this name and the number of the slot, such as MessageCountHour01 to
	// MessageCountHour24, as in the design guide. See the package documentation. The type V
	// must be the one that is stored: int32 for Edm.Int32. If V is wider, Add and Update keep a stored
	// Int32, but Set and SetAll, which do not read the row, store a V. Properties with other names are not
	// changed.
	Property string
}

// New returns a Series on the client's table. The ring and the options determine the stored
// form and must not change while the table contains rows. New makes no request. The table must
// exist before the first write; [Series.Create] creates it. The error matches [ErrBadRing],
// [patterns.ErrNil], or [patterns.ErrBadOption] if [Options.Property] and a number are not the name of
// a property.
func New[V Value](client *aztables.Client, ring Ring, opts *Options) (*Series[V], error) {
	if ring.slots == 0 {
		return nil, fmt.Errorf("new series: %w", ErrBadRing)
	}
	l := ownLayout(ring.slots)
	if opts != nil && opts.Property != "" {
		if l = guideLayout(opts.Property, ring.slots); !l.valid() {
			return nil, azerr.Errorf("new series: %w: Options.Property cannot be the name of a property", azerr.ErrBadOption)
		}
	}
	table, err := patterns.NewTable(client, &patterns.TableOptions[map[string]any]{Keyless: true})
	if err != nil {
		return nil, fmt.Errorf("new series: %w", err)
	}
	return &Series[V]{table, ring, l}, nil
}

// Client returns the client that was passed to New.
func (s *Series[V]) Client() *aztables.Client { return s.table.Client() }

// Create creates the table; it is not an error if the table exists. One request.
func (s *Series[V]) Create(ctx context.Context) error { return s.table.Create(ctx) }

// ErrNoID means that the name of a series is empty. It matches [patterns.ErrBadKey].
var ErrNoID = azerr.Errorf("%w: the name of the series is empty", patterns.ErrBadKey)

// ErrLate means that the slot contains a value of a later turn, or may contain one, or that the
// same call of [Series.SetAll] has one. Nothing was stored.
var ErrLate = azerr.Sentinel("slot contains a later value")

// cell is the place where the value of a time is stored.
type cell struct {
	slotNames
	key    keys.Key
	turnAt int64
	logged bool // the row has room for the IDs of changes
}

func (s *Series[V]) cell(id ID, t time.Time) (cell, error) {
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return cell{}, fmt.Errorf("data series: the year is outside 1 to 9999: %w", patterns.ErrBadKey)
	}
	turn, slot := s.ring.locate(t)
	key, err := s.rowKey(id, slot/s.perRow)
	return cell{s.names[slot], key, turn, s.logged(slot / s.perRow)}, err
}

// set stores v as the value of the cell in row.
func (c *cell) set(row map[string]any, v any) {
	row[c.value] = v
	if c.turn != "" {
		row[c.turn] = c.turnAt
	}
}

// ended reports whether the row stores turns and that of the cell has ended: its value must
// not overwrite a later one.
func (s *Series[V]) ended(c *cell) bool {
	now, _ := s.ring.locate(time.Now())
	return c.turn != "" && c.turnAt < now
}

// Set stores v as the value of the slot that contains t. Because v is absolute, Set can be
// repeated. It makes one request and reads nothing. If the turn of t has ended by this
// machine's clock, it makes two requests, and returns [ErrLate] if the slot already
// contains a value of a later turn.
//
// The write of a turn that has not ended has no condition: it may be applied twice, or late,
// after an attempt that got no response. It then overwrites what Set and Add have stored in
// the slot since, and if the ring has come to the slot again, or this machine's clock is
// slow, it hides the value of a later turn. Update writes only on the condition that the row
// has not changed: Set is Update with a change that returns v.
func (s *Series[V]) Set(ctx context.Context, id ID, t time.Time, v V) error {
	c, err := s.cell(id, t)
	if err != nil {
		return err
	}
	if s.ended(&c) {
		return s.change(ctx, c, func(V) (V, error) { return v, nil })
	}
	properties := map[string]any{}
	c.set(properties, v)
	_, err = s.table.Do(ctx, patterns.UpsertOp(&properties, patterns.Merge).At(c.key))
	return err
}

// SetAll stores several values, all or none, in one request. If two points are in the same
// slot, the later one in points is stored. It returns [ErrLate], and makes no request, if a
// point is of a turn that has ended by this machine's clock: use Set for those. It does so too
// if a point follows one of a later turn in the same slot, which is never so if points are in
// the order of time. Like that of Set, the write has no condition: it may be applied twice or
// late. Update is the conditional form.
func (s *Series[V]) SetAll(ctx context.Context, id ID, points []Point[V]) error {
	rows := make(map[keys.Key]map[string]any)
	for i, point := range points {
		c, err := s.cell(id, point.Time)
		if err == nil && s.ended(&c) {
			err = ErrLate
		}
		if err != nil {
			return fmt.Errorf("set all: point %d: %w", i, err)
		}
		row := rows[c.key]
		if row == nil {
			row = make(map[string]any)
			rows[c.key] = row
		}
		if turn, ok := row[c.turn].(int64); ok && turn > c.turnAt {
			return fmt.Errorf("set all: point %d: %w", i, ErrLate)
		}
		c.set(row, point.Value)
	}
	batch := s.table.Batch()
	for key, row := range rows {
		batch.Add(patterns.UpsertOp(&row, patterns.Merge).At(key))
	}
	_, err := batch.Commit(ctx)
	return err
}

// Get returns the values of the turn that contains t, in the order of time. Slots without
// a value are omitted. A series that does not exist has no values. Get makes one request.
func (s *Series[V]) Get(ctx context.Context, id ID, t time.Time) ([]Point[V], error) {
	turn, _ := s.ring.locate(t)
	return s.read(ctx, id, func(int) int64 { return turn })
}

// Last returns the values of the last round of the ring up to t, in the order of time. For
// [HoursOfDay] these are the 24 hours that end with the hour that contains t. Last makes
// one request.
func (s *Series[V]) Last(ctx context.Context, id ID, t time.Time) ([]Point[V], error) {
	turn, slot := s.ring.locate(t)
	points, err := s.read(ctx, id, func(n int) int64 {
		if n > slot {
			return turn - 1
		}
		return turn
	})
	// The points are in the order of slots: those of the previous turn come last.
	for i := range points {
		if of, _ := s.ring.locate(points[i].Time); of < turn {
			return append(append([]Point[V]{}, points[i:]...), points[:i]...), err
		}
	}
	return points, err
}

// read returns the values of the wanted turn of each slot, in the order of slots.
func (s *Series[V]) read(ctx context.Context, id ID, want func(slot int) int64) ([]Point[V], error) {
	rows, err := s.readRows(ctx, id)
	if err != nil {
		return nil, err
	}
	properties := 0
	for _, row := range rows {
		properties += len(row)
	}
	points := make([]Point[V], 0, min(properties, len(s.names)))
	for slot, names := range s.names {
		row, turn := rows[slot/s.perRow], want(slot)
		stored, found := names.turnIn(row, turn)
		if !found || stored != turn {
			continue
		}
		v, ok := valueOf[V](row[names.value])
		if !ok {
			return nil, s.wrongType(names.value, row[names.value])
		}
		points = append(points, Point[V]{s.ring.start(turn, slot), v})
	}
	return points, nil
}

// readRows returns the rows of a series by their number, nil for a row that does not exist.
func (s *Series[V]) readRows(ctx context.Context, id ID) ([]map[string]any, error) {
	rows := make([]map[string]any, s.rows)
	first, err := s.rowKey(id, 0)
	if err != nil {
		return nil, err
	}
	if s.rows == 1 {
		item, err := s.table.Get(ctx, first)
		if err != nil && !errors.Is(err, patterns.ErrNotFound) {
			return nil, err
		}
		rows[0] = item.Value
		return rows, nil
	}
	last, err := s.rowKey(id, s.rows-1)
	if err != nil {
		return nil, err
	}
	byKey := make(map[keys.Key]map[string]any, s.rows)
	filter := query.And(query.PartitionKey.Eq(id.Partition), query.RowKey.Ge(first.Row), query.RowKey.Le(last.Row))
	for item, err := range s.table.Query(ctx, filter, nil) {
		if err != nil {
			return nil, err
		}
		byKey[item.Key] = item.Value
	}
	for n := range rows {
		key, err := s.rowKey(id, n)
		if err != nil {
			return nil, err
		}
		rows[n] = byKey[key]
	}
	return rows, nil
}

// wrongType returns the error for a stored value that is not a V.
func (s *Series[V]) wrongType(property string, stored any) error {
	var v V
	return &patterns.PropertyError{Property: property, Want: fmt.Sprintf("a value of type %T", v), Got: fmt.Sprintf("one of type %T", stored)}
}

// valueOf returns a stored value as a V. It accepts an Int32 for each type, because other
// writers may have stored it so.
func valueOf[V Value](stored any) (v V, ok bool) {
	if v, ok := stored.(V); ok {
		return v, true
	}
	n, ok := stored.(int32)
	return V(n), ok
}
