package wideentity

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Read reads the named properties of the entity at key, from the rows that hold
// them, or fails with [patterns.ErrNotFound]. Other fields of the value are zero.
// The item is [Item.Projected].
//
// Properties of one row are one request, a point read of that row; the item then has
// no ETag. Those of k rows are k+1, at most [Options.Parallel] at once: the rows and
// the head, which tells whether they belong together. Where they do not, Read reads
// again as Get does. Without properties it is one request, for the head: whether
// there is an entity, and its ETag.
//
// Values over 64 KiB are in several rows. So may be, until it is next replaced whole,
// an entity whose rows were staged or that was stored under another number of
// parts: then the head is read, and after it the rows.
func (t *Table[T]) Read(ctx context.Context, key keys.Key, properties ...string) (Item[T], error) {
	rows, err := rowsOf(key)
	if err == nil {
		err = t.checkNames(properties)
	}
	if err != nil {
		return Item[T]{}, fmt.Errorf("read: %w", err)
	}
	var item Item[T]
	err = t.untorn(ctx, func() (err error) {
		item = Item[T]{Key: key, only: append([]string{}, properties...)}
		return (&reading[T]{table: t, rows: rows, item: &item}).run(ctx)
	})
	if err != nil {
		return Item[T]{}, fmt.Errorf("read: %w", err)
	}
	return item, nil
}

// reading is one try of a Read.
type reading[T any] struct {
	table *Table[T]
	rows  entityRows
	item  *Item[T]
	head  *head
	found edm.StoredRows
	at    map[int]int // the row in found that has a part, and the properties wanted
}

func (r *reading[T]) run(ctx context.Context) error {
	l := r.table.layout
	r.at = map[int]int{}
	guess := map[int]wanted{}
	for _, name := range r.item.only {
		guess[l.place(name)] = guess[l.place(name)].with(name)
	}
	// Most often the rows are in place, and rows in place are current.
	single := len(guess) == 1
	if err := r.fetch(ctx, guess, !single); err != nil {
		return err
	}
	if single {
		if done, err := r.alone(); done || err != nil {
			return err
		}
		if err := r.fetch(ctx, nil, true); err != nil {
			return err
		}
	}
	if r.head == nil {
		return patterns.ErrNotFound
	}
	return r.under(ctx, guess)
}

// alone gives what one row in place tells by itself, if it does.
func (r *reading[T]) alone() (done bool, err error) {
	for _, row := range r.at {
		_, layout, splits, err := parseNote(r.found.Rows[row].Text(partNote))
		if err != nil || layout != r.table.layout.name {
			return false, nil
		}
		for _, name := range r.item.only {
			if splits[name] > 0 {
				return false, nil
			}
		}
		return true, r.table.gather(&r.found, []int{row}, nil, r.item)
	}
	return false, nil
}

// under puts the properties together as the head says, and reads what is missing.
func (r *reading[T]) under(ctx context.Context, have map[int]wanted) error {
	h := r.head
	l, err := r.table.layout.stored(h.layout)
	if err != nil {
		return err
	}
	want, splits := map[int]wanted{}, map[string]int{}
	for _, name := range r.item.only {
		for piece := range max(h.splits[name], 1) {
			stored := name
			if piece > 0 {
				stored = edm.PieceName(name, piece)
				splits[name] = piece + 1
			}
			i := l.at(name, piece)
			if p, ok := h.parts[i]; ok {
				want[i] = want[i].with(stored)
				want[i] = wanted{p.staged, want[i].names}
			}
		}
	}
	lack := map[int]wanted{}
	for i, w := range want {
		row, ok := r.at[i]
		if !ok || have[i].staged != w.staged || !slices.Equal(have[i].names, w.names) || !isOf(&r.found.Rows[row], h.parts[i]) {
			lack[i] = w
			delete(r.at, i)
		}
	}
	if err := r.fetch(ctx, lack, false); err != nil {
		return err
	}
	var use []int
	for i := range want {
		row, ok := r.at[i]
		if !ok || !isOf(&r.found.Rows[row], h.parts[i]) {
			return ErrTorn
		}
		use = append(use, row)
	}
	if err := r.table.gather(&r.found, use, splits, r.item); err != nil {
		return err
	}
	r.item.of(h)
	return nil
}

// wanted is what to read of a part, and in which row.
type wanted struct {
	staged string
	names  []string
}

func (w wanted) with(name string) wanted {
	if !slices.Contains(w.names, name) {
		w.names = append(slices.Clip(w.names), name)
	}
	return w
}

// maxSelect is how long a selection may be, which is part of the request's address.
// Beyond it the row is read whole.
const maxSelect = 2000

// fetch reads parts, side by side, and the head with them. What is not there is left
// out.
func (r *reading[T]) fetch(ctx context.Context, parts map[int]wanted, withHead bool) error {
	var order []int
	if withHead {
		order = append(order, -1)
	}
	for i := range parts {
		order = append(order, i)
	}
	slices.Sort(order)
	n := 0
	window := parallel.Window{Start: r.table.parallel, Max: r.table.parallel}
	for g, err := range parallel.Ordered(ctx, len(order), window, func(ctx context.Context, n int) (*edm.StoredRows, error) {
		if i := order[n]; i >= 0 {
			return r.table.rows(ctx, r.query(i, parts[i]))
		}
		return r.table.rows(ctx, wire.Query{Filter: r.rows.exactly(r.rows.head()).String()})
	}) {
		if err != nil {
			return err
		}
		i := order[n]
		n++
		switch {
		case len(g.Rows) == 0:
		case i < 0:
			if r.head, err = parseHead(&g.Rows[0]); err != nil {
				return err
			}
		default:
			r.at[i] = r.found.AddFrom(g)
		}
	}
	return nil
}

// query asks for properties of part i.
func (r *reading[T]) query(i int, w wanted) wire.Query {
	q := wire.Query{Filter: r.rows.exactly(r.rows.part(i, w.staged)).String()}
	names := "RowKey," + partNote + "," + strings.Join(w.names, ",")
	if len(names) <= maxSelect {
		q.Select = names
	}
	return q
}
