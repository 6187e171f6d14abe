package widerow

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Read reads the named properties from the rows that have them: one request if they are
// in one row, otherwise one for each row and one for the head.
func (t *Table) Read(ctx context.Context, key keys.Key, names []string) (Record, error) {
	rows, err := t.rowsOf(key)
	if err == nil {
		err = t.checkNames(names)
	}
	if err != nil {
		return Record{}, err
	}
	var r Record
	err = t.attempt(ctx, func() (bool, error) {
		p := &partial{table: t, rows: rows, key: key, names: append([]string{}, names...), at: map[int]int{}}
		r, err = p.read(ctx)
		return errors.Is(err, ErrTorn), err
	})
	return r, err
}

// partial is one attempt to read some properties.
type partial struct {
	table *Table
	rows  entityRows
	key   keys.Key
	names []string

	head  *head // nil if it does not exist, or was not read
	found edm.StoredRows
	at    map[int]int // part -> its row in found
}

// selection is what to read of a part, and from which row.
type selection struct {
	staged string
	stored []string // the names of the properties or pieces
}

func (s selection) with(stored string) selection {
	if !slices.Contains(s.stored, stored) {
		s.stored = append(slices.Clip(s.stored), stored)
	}
	return s
}

func (p *partial) read(ctx context.Context) (Record, error) {
	// In most cases the properties are not split and the rows are in place; rows in place
	// are current.
	expected := map[int]selection{}
	for _, name := range p.names {
		i := p.table.layout.partOf(name)
		expected[i] = expected[i].with(name)
	}
	single, plain := len(expected) == 1, p.table.layout.plain
	if err := p.fetch(ctx, expected, !single && !plain); err != nil {
		return Record{}, err
	}
	if single {
		if r, ok, err := p.withoutHead(); ok || err != nil {
			return r, err
		}
		if err := p.fetch(ctx, nil, !plain); err != nil {
			return Record{}, err
		}
	}
	if plain || p.head.plain() {
		// The rows belong together if they have the same ETags after all were read.
		var err error
		if p.head, err = p.table.readHead(ctx, p.rows); err != nil {
			return Record{}, err
		}
	}
	if p.head == nil || p.head.gone() {
		return Record{}, azerr.ErrNotFound
	}
	return p.withHead(ctx, expected)
}

// withoutHead returns the record of the one row in place that was read. ok is false if
// that row does not have the properties, or not as a whole.
func (p *partial) withoutHead() (r Record, ok bool, err error) {
	for _, row := range p.at {
		if !p.isComplete(row) {
			return Record{}, false, nil
		}
		r, err = p.table.join(&p.found, []int{row}, nil, p.key, p.names)
		return r, true, err
	}
	return Record{}, false, nil
}

// isComplete reports whether the row that was read is known to have the properties, as a
// whole, or to be the one that would have them. A plain row has no note of the layout: it
// is known to have what it has.
func (p *partial) isComplete(row int) bool {
	stored := &p.found.Rows[row]
	if p.table.layout.plain && stored.Text(noteProperty) == "" {
		has := p.found.Names(row)
		return !slices.ContainsFunc(p.names, func(name string) bool { return !slices.Contains(has, name) })
	}
	n, err := parseNote(stored)
	return err == nil && n.layout == p.table.layout.name &&
		!slices.ContainsFunc(p.names, func(name string) bool { return n.splits[name] > 0 })
}

// withHead reads the parts that the head names and that were not read as expected, and
// returns the record.
func (p *partial) withHead(ctx context.Context, expected map[int]selection) (Record, error) {
	h := p.head
	l, err := p.table.layout.stored(h.layout)
	if err != nil {
		return Record{}, err
	}
	required, splits := map[int]selection{}, map[string]int{}
	for _, name := range p.names {
		for piece := range max(h.splits[name], 1) {
			stored := name
			if piece > 0 {
				stored = edm.PieceName(name, piece)
				splits[name] = piece + 1
			}
			i := l.partOfPiece(name, piece)
			if part, ok := h.parts[i]; ok {
				required[i] = selection{part.staged, required[i].with(stored).stored}
			}
		}
	}
	missing := map[int]selection{}
	for i, s := range required {
		if !p.isRead(i) || expected[i].staged != s.staged || !slices.Equal(expected[i].stored, s.stored) {
			missing[i] = s
			delete(p.at, i)
		}
	}
	if err := p.fetch(ctx, missing, false); err != nil {
		return Record{}, err
	}
	var use []int
	for i := range required {
		if !p.isRead(i) {
			return Record{}, ErrTorn
		}
		use = append(use, p.at[i])
	}
	r, err := p.table.join(&p.found, use, splits, p.key, p.names)
	if err != nil {
		return Record{}, err
	}
	return r.at(h), nil
}

// isRead reports whether part i was read, in the version that the head names.
func (p *partial) isRead(i int) bool {
	row, ok := p.at[i]
	return ok && p.head.parts[i].matches(&p.found.Rows[row])
}

// fetch reads parts concurrently, and the head with them. Rows that do not exist are left
// out.
func (p *partial) fetch(ctx context.Context, parts map[int]selection, withHead bool) error {
	const head = -1
	var order []int
	if withHead {
		order = append(order, head)
	}
	for i := range parts {
		order = append(order, i)
	}
	slices.Sort(order)
	window := calls.Window{Start: p.table.parallel, Max: p.table.parallel}
	n := 0
	for g, err := range calls.Ordered(ctx, len(order), window, func(ctx context.Context, n int) (*edm.StoredRows, error) {
		q := wire.Query{Filter: exactly(p.rows.head()).String()}
		if i := order[n]; i != head {
			q = p.partQuery(i, parts[i])
		}
		g, _, err := p.table.query(ctx, q)
		return g, err
	}) {
		if err != nil {
			return err
		}
		i := order[n]
		n++
		switch {
		case len(g.Rows) == 0:
		case i == head:
			if p.head, err = parseHead(&g.Rows[0]); err != nil {
				return err
			}
		default:
			p.at[i] = p.found.AddFrom(g)
		}
	}
	return nil
}

// maxSelect is the largest length of a selection, which is a part of the request's
// address. If a selection is longer, the whole row is read.
const maxSelect = 2000

func (p *partial) partQuery(i int, s selection) wire.Query {
	return wire.Query{
		Filter: exactly(p.rows.part(i, s.staged)).String(),
		Select: selectNames(append([]string{noteProperty}, s.stored...)),
	}
}

// selectNames returns the selection of the row key and the names, "" if that is too long.
func selectNames(names []string) string {
	if s := "RowKey," + strings.Join(names, ","); len(s) <= maxSelect {
		return s
	}
	return ""
}
