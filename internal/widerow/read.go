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
	s, err := t.readRows(ctx, rows, nil)
	h := s.head
	if err == nil && h.gone() {
		err = azerr.ErrNotFound
	}
	if err != nil {
		return Record{}, err
	}
	use := make([]int, 0, len(h.parts))
	for i, p := range h.parts {
		row, ok := s.at[rows.part(i, p.staged).Row]
		if !ok || !p.matches(&s.Rows[row]) {
			return Record{}, ErrTorn
		}
		use = append(use, row)
	}
	slices.Sort(use)
	r, err := t.join(s.StoredRows, use, h.splits, key, nil)
	if err != nil {
		return Record{}, err
	}
	return r.at(h), nil
}

// readRows reads the rows of an entity, of the parts only the named properties if names is
// not nil. If the entity is plain, they belong together: several pages prove that if the
// ETags are still the same afterwards.
func (t *Table) readRows(ctx context.Context, rows entityRows, names []string) (storedEntity, error) {
	q := wire.Query{Filter: rows.all().String()}
	if names != nil {
		q.Select = selectNames(append([]string{noteProperty, "azp_layout", "azp_parts", "azp_splits", "azp_version"}, names...))
	}
	g, pages, err := t.query(ctx, q)
	if err != nil {
		return storedEntity{}, err
	}
	s, err := t.headOf(g, rows)
	if err != nil || pages == 1 || !s.head.plain() {
		return s, err
	}
	q.Select = "RowKey"
	again, _, err := t.query(ctx, q)
	if err != nil {
		return storedEntity{}, err
	}
	same := func(a, b edm.StoredRow) bool { return a.RowKey == b.RowKey && a.ETag == b.ETag }
	if !slices.EqualFunc(g.Rows, again.Rows, same) {
		return storedEntity{}, ErrTorn
	}
	return s, nil
}

// query reads all pages of a query.
func (t *Table) query(ctx context.Context, q wire.Query) (g *edm.StoredRows, pages int, err error) {
	g = new(edm.StoredRows)
	for {
		pages++
		before := len(g.Rows)
		next, err := t.Client.Query(ctx, q, func(body []byte) error {
			g.Rows = g.Rows[:before] // this may be a second attempt
			return g.AddPage(body)
		})
		if err != nil {
			return nil, 0, err
		}
		if next == (wire.Position{}) {
			return g, pages, nil
		}
		q.Next = next
	}
}

// join makes a record of rows of g. selected are the properties that were requested, nil
// for all.
func (t *Table) join(g *edm.StoredRows, use []int, splits map[string]int, key keys.Key, selected []string) (Record, error) {
	r := Record{Value: reflect.New(t.typ).Interface(), Key: key, Origin: &Origin{Selected: selected}}
	spec := edm.JoinSpec{Use: use, Splits: splits, Only: selected, Place: rowsAt(key).head()}
	if err := t.codec.Join(g, spec, r.Value, &r.Origin.unknown); err != nil {
		return Record{}, err
	}
	t.codec.SetKeys(r.Value, key.Partition, key.Row)
	return r, nil
}
