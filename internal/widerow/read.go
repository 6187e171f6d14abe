package widerow

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Get reads the whole entity. One request for each page of the reply.
func (t *Table) Get(ctx context.Context, key keys.Key) (Record, error) {
	rows, err := t.rowsOf(key)
	if err != nil {
		return Record{}, err
	}
	var r Record
	err = t.attempt(ctx, func() (bool, error) {
		r, err = t.readWhole(ctx, rows, key)
		return errors.Is(err, ErrTorn), err
	})
	return r, err
}

// readWhole reads the entity once.
func (t *Table) readWhole(ctx context.Context, rows entityRows, key keys.Key) (Record, error) {
	g, err := t.query(ctx, wire.Query{Filter: rows.all().String()})
	if err != nil {
		return Record{}, err
	}
	at := make(map[string]int, len(g.Rows))
	for i := range g.Rows {
		at[g.Rows[i].RowKey] = i
	}
	i, ok := at[rows.head().Row]
	if !ok {
		return Record{}, azerr.ErrNotFound
	}
	h, err := parseHead(&g.Rows[i])
	if err != nil {
		return Record{}, err
	}
	use := make([]int, 0, len(h.parts))
	for i, p := range h.parts {
		row, ok := at[rows.part(i, p.staged).Row]
		if !ok || !p.matches(&g.Rows[row]) {
			return Record{}, ErrTorn
		}
		use = append(use, row)
	}
	slices.Sort(use)
	r, err := t.join(g, use, h.splits, key, nil)
	if err != nil {
		return Record{}, err
	}
	return r.at(h), nil
}

// query reads all pages of a query.
func (t *Table) query(ctx context.Context, q wire.Query) (*edm.StoredRows, error) {
	g := new(edm.StoredRows)
	for {
		before := len(g.Rows)
		next, err := t.Client.Query(ctx, q, func(body []byte) error {
			g.Rows = g.Rows[:before] // this may be a second attempt
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

// join makes a record of rows of g. selected are the properties that were requested, nil
// for all.
func (t *Table) join(g *edm.StoredRows, use []int, splits map[string]int, key keys.Key, selected []string) (Record, error) {
	r := Record{Value: reflect.New(t.typ).Interface(), Key: key, Origin: &Origin{Selected: selected}}
	spec := edm.JoinSpec{Use: use, Splits: splits, Only: selected}
	if err := t.codec.Join(g, spec, r.Value, &r.Origin.unknown); err != nil {
		return Record{}, err
	}
	t.codec.SetKeys(r.Value, key.Partition, key.Row)
	return r, nil
}
