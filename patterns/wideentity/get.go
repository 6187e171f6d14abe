package wideentity

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Get reads the whole entity at key, or fails with [patterns.ErrNotFound]. One
// request, unless the service answers in several pages: one for each.
//
// A page is a snapshot of its rows, several are not: what comes of them counts only
// if each row is of the version that the head names for it. Otherwise a writer was
// at work in between, and Get reads again, after a pause, at most [Options.Tries]
// times; then it fails with [ErrTorn].
func (t *Table[T]) Get(ctx context.Context, key keys.Key) (Item[T], error) {
	rows, err := rowsOf(key)
	if err != nil {
		return Item[T]{}, fmt.Errorf("get: %w", err)
	}
	var item Item[T]
	err = t.untorn(ctx, func() (err error) {
		item, err = t.read(ctx, rows, key)
		return err
	})
	if err != nil {
		return Item[T]{}, fmt.Errorf("get: %w", err)
	}
	return item, nil
}

// untorn calls read until it gives something else than ErrTorn, or too often.
func (t *Table[T]) untorn(ctx context.Context, read func() error) error {
	for n := 1; ; n++ {
		err := read()
		if !errors.Is(err, ErrTorn) || n >= t.tries {
			return err
		}
		if perr := parallel.Pause(ctx, n); perr != nil {
			return errors.Join(err, perr)
		}
	}
}

// read reads the whole entity once.
func (t *Table[T]) read(ctx context.Context, rows entityRows, key keys.Key) (Item[T], error) {
	item := Item[T]{Key: key}
	g, err := t.rows(ctx, wire.Query{Filter: rows.all().String()})
	if err != nil {
		return item, err
	}
	at := make(map[string]int, len(g.Rows))
	for i := range g.Rows {
		at[g.Rows[i].RowKey] = i
	}
	i, ok := at[rows.head()]
	if !ok {
		return item, patterns.ErrNotFound
	}
	h, err := parseHead(&g.Rows[i])
	if err != nil {
		return item, err
	}
	use := make([]int, 0, len(h.parts))
	for i, p := range h.parts {
		row, ok := at[rows.part(i, p.staged)]
		if !ok || !isOf(&g.Rows[row], p) {
			return item, ErrTorn
		}
		use = append(use, row)
	}
	slices.Sort(use)
	if err := t.gather(g, use, h.splits, &item); err != nil {
		return item, err
	}
	item.of(h)
	return item, nil
}

// isOf reports whether the row is of the version that the head names.
func isOf(r *edm.StoredRow, p part) bool {
	version, _, _, err := parseNote(r.Text(partNote))
	return err == nil && version == p.version
}

// rows reads all pages of a query.
func (t *Table[T]) rows(ctx context.Context, q wire.Query) (*edm.StoredRows, error) {
	g := new(edm.StoredRows)
	for {
		before := len(g.Rows)
		next, err := t.wire.Query(ctx, q, func(body []byte) error {
			g.Rows = g.Rows[:before] // this may be a second try
			return g.AddPage(body)
		})
		if err != nil {
			return nil, err
		}
		if next == (wire.Position{}) {
			return g, nil
		}
		q.Next = next
	}
}

// gather puts item's value together from rows of g.
func (t *Table[T]) gather(g *edm.StoredRows, use []int, splits map[string]int, item *Item[T]) error {
	if err := t.codec.Join(g, edm.JoinSpec{Use: use, Splits: splits, Only: item.only}, &item.Value, &item.rest); err != nil {
		return err
	}
	t.codec.SetKeys(&item.Value, item.Key.Partition, item.Key.Row)
	return nil
}
