package oldprogram

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/dataseries"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// A patternProgram is a program whose rows are in the layouts of other patterns, which change them by one of the ways.
type patternProgram struct {
	*program
	ways map[string]func(e *patternCase) error
}

// patternCase is a change of one field. The rows are those of the partition.
type patternCase struct {
	*world
	testing.TB
	*rand.Rand
	*patternProgram
	partition string
	foreign   bool
	change    *change
}

func inPatterns[N any](p *staticProgram) *patternProgram {
	return &patternProgram{p.program, map[string]func(*patternCase) error{
		"compoundkey": compoundCase[N], "wideentity": wideCase[N], "dataseries": seriesCase, "Move": moveCase,
	}}
}

func TestOtherPatternsKeepWhatWasNotChanged(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b)
		cases(t, b, 1000, 100, func(seed uint64) error {
			r := rand.New(rand.NewPCG(seed, 8))
			p := pick(r, patternPrograms...)
			way := pick(r, slices.Sorted(maps.Keys(p.ways))...)
			e := &patternCase{world: w, TB: t, Rand: r, patternProgram: p, partition: fmt.Sprintf("p%d.", seed), foreign: r.IntN(3) == 0}
			err := p.ways[way](e)
			if err != nil {
				err = fmt.Errorf("%v, %s, a change of %v: %w", p.new, way, e.change, err)
			}
			return err
		})
	})
}

// draw draws a change of the value v, which the rows before contain. ok is false if there is none.
func (e *patternCase) draw(v reflect.Value, before stored) (ok bool) {
	e.change = drawChange(e.Rand, v, before)
	return e.change != nil
}

// check compares what contains the value v after the change.
func (e *patternCase) check(v reflect.Value, before, after stored) error {
	before, after = before.without(), after.without()
	if diff := e.change.diff(before, after, v); diff != "" {
		return fmt.Errorf("\n%s", diff)
	}
	if e.foreign {
		return nil
	}
	return e.change.decode(e.program, before, after, keys.Key{Partition: e.partition, Row: "000123"})
}

// compoundCase changes a parent or a child of the guide's compound key, in a transaction with the other one.
func compoundCase[N any](e *patternCase) error {
	parent, child := keys.Key{Partition: e.partition, Row: "000123"}, keys.Key{Partition: e.partition, Row: "000123_2012"}
	e.put(e.TB, e.Rand, e.rowText(e.Rand, parent, e.foreign))
	e.put(e.TB, e.Rand, e.rowText(e.Rand, child, e.foreign))
	before := e.rows(e.TB, e.partition)
	idOf := func(n *N) (compoundkey.ID, string) {
		id, of, _ := strings.Cut(keyOf(n).Row, "_")
		return compoundkey.ID{Partition: keyOf(n).Partition, Parent: id}, of
	}
	f, err := compoundkey.New(e.client, func(n *N) compoundkey.ID { id, _ := idOf(n); return id }, idOf, &compoundkey.Options{BareParent: true})
	if err != nil {
		return err
	}
	id := compoundkey.ID{Partition: e.partition, Parent: "000123"}
	p, err := f.Parent(e.Context(), id)
	if err != nil {
		return err
	}
	c, err := f.Child(e.Context(), id, "2012")
	if err != nil {
		return err
	}
	at, item := parent, &p
	if e.IntN(2) == 0 {
		at, item = child, &c
	}
	v := clone(reflect.ValueOf(&item.Value).Elem())
	if !e.draw(v, before[at]) {
		return nil
	}
	if e.IntN(2) == 0 {
		_, _, err = f.Update(e.Context(), id, "2012", func(p, c *N) error {
			e.change.set(reflect.ValueOf(map[bool]*N{true: p, false: c}[at == parent]).Elem())
			return nil
		})
	} else {
		e.change.set(reflect.ValueOf(&item.Value).Elem())
		_, err = f.Transaction().Parent(patterns.ReplaceOp(p)).Child(patterns.ReplaceOp(c)).Commit(e.Context())
	}
	if err != nil {
		return err
	}
	after := e.rows(e.TB, e.partition)
	if err := e.check(v, before[at], after[at]); err != nil {
		return err
	}
	after[at] = before[at]
	if diff := compare(after, before); diff != "" {
		return fmt.Errorf("\n%s", diff)
	}
	return nil
}

// partOf is the row, of two, with a property.
func partOf(property string) int { return len(property)%2 + 1 }

// wideCase changes an entity that has two rows, as the guide prints them.
func wideCase[N any](e *patternCase) error {
	key := keys.Key{Partition: e.partition, Row: "000123"}
	var row map[string]json.RawMessage
	must(json.Unmarshal(e.rowText(e.Rand, key, e.foreign), &row))
	for part := 1; part <= 2; part++ {
		of := maps.Clone(row)
		maps.DeleteFunc(of, func(name string, _ json.RawMessage) bool {
			name, _, _ = strings.Cut(name, "@")
			return name == "RowKey" || name != "PartitionKey" && partOf(name) != part
		})
		of["RowKey"] = json.RawMessage(fmt.Sprintf(`"000123_%02d"`, part))
		if len(of) > 2 {
			text, err := json.Marshal(of)
			must(err)
			e.put(e.TB, e.Rand, text)
		}
	}
	before := e.whole()
	table, err := wideentity.New(e.client, &wideentity.Options[N]{
		Key: func(*N) (keys.Key, error) { return key, nil }, Parts: 2, Plain: true, PartOf: partOf,
	})
	if err != nil {
		return err
	}
	item, err := table.Get(e.Context(), key)
	if err != nil {
		return err
	}
	v := clone(reflect.ValueOf(&item.Value).Elem())
	if !e.draw(v, before) {
		return nil
	}
	edited := item
	e.change.set(reflect.ValueOf(&edited.Value).Elem())
	switch way := e.IntN(3); {
	case way == 0:
		_, err = table.Update(e.Context(), key, func(n *N) error { e.change.set(reflect.ValueOf(n).Elem()); return nil })
	case way == 1 && !e.change.removes:
		_, err = table.Merge(e.Context(), edited, e.change.name)
	default:
		_, err = table.Replace(e.Context(), edited)
	}
	if err != nil {
		return err
	}
	return e.check(v, before, e.whole())
}

// whole returns the properties of all rows of a wide entity. A property in the wrong row has another name.
func (e *patternCase) whole() stored {
	all := stored{}
	for at, row := range e.rows(e.TB, e.partition) {
		for name, p := range row.without() {
			if at.Row != fmt.Sprintf("000123_%02d", partOf(name)) {
				name += " in " + at.Row
			}
			all[name] = p
		}
	}
	return all
}

// seriesCase changes a slot of a row with other properties.
func seriesCase(e *patternCase) error {
	switch e.IntN(3) {
	case 0:
		return slotCase[int32](e, "Edm.Int32", func() string { return fmt.Sprint(int32(e.Uint32())) })
	case 1:
		return slotCase[int64](e, "Edm.Int64", func() string { return fmt.Sprintf(`"%d"`, int64(e.Uint64())>>1) })
	}
	return slotCase[float64](e, "Edm.Double", func() string { return pick(e.Rand, "1.50", "3", "-0.0", "1E2", `"NaN"`, "0.1") })
}

func slotCase[V dataseries.Value](e *patternCase, edm string, value func() string) error {
	key := keys.Key{Partition: e.partition, Row: "000123"}
	e.put(e.TB, e.Rand, e.rowText(e.Rand, key, e.foreign))
	row := e.rows(e.TB, e.partition)[key]
	for hour := range 24 {
		if e.IntN(2) == 0 {
			row[fmt.Sprintf("MessageCountHour%02d", hour+1)] = property{value(), edm}
		}
	}
	_, err := e.hand.UpsertEntity(e.Context(), row.json(key), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	assert.NoError(e.TB, err)
	before := e.rows(e.TB, e.partition)[key]
	s, err := dataseries.New[V](e.client, dataseries.HoursOfDay(), &dataseries.Options{Property: "MessageCountHour"})
	if err != nil {
		return err
	}
	hour := e.IntN(24)
	at, id := time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC), dataseries.ID{Partition: e.partition, Series: "000123"}
	switch e.IntN(3) {
	case 0:
		err = s.Set(e.Context(), id, at, 1)
	case 1:
		err = s.Add(e.Context(), id, at, 1)
	default:
		err = s.Update(e.Context(), id, at, func(V) (V, error) { return 2, nil })
	}
	if err != nil {
		return err
	}
	slot := fmt.Sprintf("MessageCountHour%02d", hour+1)
	after := e.rows(e.TB, e.partition)[key]
	if diff := after.without(slot).diff(before.without(slot)); diff != "" || after[slot].edm != edm {
		return fmt.Errorf("%s is %v\n%s", slot, after[slot], diff)
	}
	return nil
}

// moveCase moves a row to another table.
func moveCase(e *patternCase) error {
	key := keys.Key{Partition: e.partition, Row: "000123"}
	e.put(e.TB, e.Rand, e.rowText(e.Rand, key, e.foreign))
	before := e.rows(e.TB, e.partition)
	target := newWorld(e.TB, e.Backend)
	if err := eventual.Move(e.Context(), e.client, target.client, eventual.Row{PartitionKey: key.Partition, RowKey: key.Row}); err != nil {
		return err
	}
	if diff := compare(target.rows(e.TB, e.partition), before); diff != "" {
		return fmt.Errorf("\n%s", diff)
	}
	if left := e.rows(e.TB, e.partition); len(left) > 0 {
		return fmt.Errorf("left behind: %v", left)
	}
	return nil
}
