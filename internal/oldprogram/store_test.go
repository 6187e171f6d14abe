package oldprogram

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/query"
)

// staticProgram is a program whose new struct is a type parameter.
type staticProgram struct {
	*program
	open func(t testing.TB, w *world, layouts []*layout) (storeEditor, error)
}

// storeEditor is an editor by a [patterns.Store].
type storeEditor interface {
	editor
	verify(ctx context.Context) ([]reindex.Finding, error)
	reindex(ctx context.Context, view string) (reindex.Report, error) // Backfill of the view, Repair if it is ""
	pending() error                                                   // of the last operation
}

func static[N any](seed uint64) *staticProgram {
	p := generate(seed)
	p.new = reflect.TypeFor[N]()
	return &staticProgram{p, func(t testing.TB, w *world, layouts []*layout) (storeEditor, error) {
		e := &typedEditor[N]{}
		opts := &patterns.StoreOptions[N]{Outbox: &e.queue, OnPending: func(_ context.Context, _ keys.Key, err error) { e.late = err }}
		for _, l := range layouts {
			opts.Views = append(opts.Views, viewsOf[N](l)...)
		}
		table, err := patterns.NewTable[N](w.client, nil)
		if err != nil {
			return nil, err
		}
		e.table = table
		e.rows = harness.NewTable[patterns.Row](t, w.client, nil)
		e.Store, err = patterns.NewStore(table, opts)
		return e, err
	}}
}

type typedEditor[N any] struct {
	*patterns.Store[N]
	table *patterns.Table[N]
	rows  *patterns.Table[patterns.Row]
	queue harness.OutboxQueue
	late  error
}

func (e *typedEditor[N]) pending() error { return e.late }

func (e *typedEditor[N]) verify(ctx context.Context) (found []reindex.Finding, err error) {
	for f, err := range reindex.Verify(ctx, e.Store, "", nil) {
		if err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	return found, nil
}

func (e *typedEditor[N]) reindex(ctx context.Context, view string) (reindex.Report, error) {
	if view == "" {
		return reindex.Repair(ctx, e.Store, "", nil)
	}
	return reindex.Backfill(ctx, e.Store, view, "", nil)
}

func (e *typedEditor[N]) get(ctx context.Context, key keys.Key) (reflect.Value, error) {
	item, err := e.table.Get(ctx, key)
	return reflect.ValueOf(&item.Value).Elem(), err
}

// tableWays are ways that go past the Store: they do not change the views.
var tableWays = []string{
	"Table.Update", "Table.Replace", "Table.Query, Replace", "Table.Batch", "Table.Bulk", "Decode, Replace", "DecodeJSON, Replace", "WithValue, Replace",
}

func (e *typedEditor[N]) ways(merging bool) []string {
	if merging {
		return []string{"Store.Update"}
	}
	return []string{"Store.Update", "Store.UpdateItem", "Store.Put", "Store.PutItem", "StoreBatch.Update", "StoreBatch.PutItem", "Store.Bulk, Update", "Store.Bulk, Put", "Store.Bulk, PutItem"}
}

func (e *typedEditor[N]) change(ctx context.Context, way string, key keys.Key, property string, change func(reflect.Value)) error {
	e.late = nil
	apply := func(n *N) error {
		change(reflect.ValueOf(n).Elem())
		return nil
	}
	item, err := e.read(ctx, way, key)
	if err != nil {
		return err
	}
	next := clone(reflect.ValueOf(&item.Value).Elem()).Addr().Interface().(*N)
	if err := apply(next); err != nil {
		return err
	}
	edited := item
	edited.Value = *next
	op := patterns.UpdateEntity(key, apply)
	switch way {
	case "Table.Update":
		_, err = e.table.Update(ctx, key, apply)
	case "Table.Batch":
		_, err = e.table.Batch().Replace(edited).Commit(ctx)
	case "Table.Bulk":
		_, err = e.table.Bulk(ctx, slices.Values([]patterns.Op[N]{patterns.ReplaceOp(edited)}), nil)
	case "WithValue, Replace":
		_, err = e.table.Replace(ctx, patterns.WithValue(item, *next))
	case "Table.Replace", "Table.Query, Replace", "Decode, Replace", "DecodeJSON, Replace":
		_, err = e.table.Replace(ctx, edited)
	case "Store.Update":
		_, err = e.Update(ctx, key, apply)
	case "Store.UpdateItem":
		_, err = e.UpdateItem(ctx, item, apply)
	case "Store.Put":
		_, err = e.Put(ctx, next)
	case "Store.PutItem":
		_, err = e.PutItem(ctx, item, next)
	case "StoreBatch.Update":
		_, err = e.Batch().Update(key, apply).Commit(ctx)
	case "StoreBatch.PutItem":
		_, err = e.Batch().PutItem(item, next).Commit(ctx)
	case "Store.Bulk, Put":
		op = patterns.PutEntity(next)
		fallthrough
	case "Store.Bulk, PutItem":
		if way == "Store.Bulk, PutItem" {
			op = patterns.PutEntity(next).Was(item)
		}
		fallthrough
	case "Store.Bulk, Update":
		_, err = e.Bulk(ctx, slices.Values([]patterns.StoreOp[N]{op}), nil)
	default:
		return fmt.Errorf("no way %q", way)
	}
	return err
}

// read reads the row in the way that the change names.
func (e *typedEditor[N]) read(ctx context.Context, way string, key keys.Key) (patterns.Item[N], error) {
	switch way {
	case "Table.Query, Replace":
		f := query.And(query.PartitionKey.Eq(key.Partition), query.RowKey.Ge(key.Row), query.RowKey.Lt(key.Row+"!"))
		for item, err := range e.table.Query(ctx, f, nil) {
			return item, err
		}
	case "Decode, Replace":
		row, err := e.rows.Get(ctx, key)
		if err != nil {
			return patterns.Item[N]{}, err
		}
		return patterns.Decode[N](row)
	}
	item, err := e.table.Get(ctx, key)
	if way != "DecodeJSON, Replace" || err != nil {
		return item, err
	}
	text, err := patterns.EncodeJSON(item)
	if err != nil {
		return item, err
	}
	again, err := patterns.DecodeJSON[N](text)
	again.ETag = item.ETag
	return again, err
}

func TestAStoreKeepsWhatWasNotChanged(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b)
		var name uint64
		var p *staticProgram
		var views []*layout
		var e storeEditor
		cases(t, b, 1000, 500, func(seed uint64) (err error) {
			if name != seed/10 || e == nil {
				name = seed / 10
				r := rand.New(rand.NewPCG(name, 3))
				p = pick(r, statics...)
				views = nil
				for _, i := range r.Perm(len(layouts))[:1+r.IntN(4)] {
					views = append(views, layouts[i])
				}
				if e, err = p.open(t, w, views); err != nil {
					return fmt.Errorf("%v: %w", p.new, err)
				}
			}
			return w.storeCase(t, seed, p, e, views)
		})
	})
}

// storeCase changes one field of an entity by a Store, or past it, and compares all rows.
func (w *world) storeCase(t testing.TB, seed uint64, p *staticProgram, e storeEditor, views []*layout) error {
	r := rand.New(rand.NewPCG(seed, 1))
	key := keys.Key{Partition: fmt.Sprintf("p%d.", seed), Row: fmt.Sprintf("%06d", 1+r.IntN(1000))}
	foreign := r.IntN(3) == 0
	w.put(t, r, p.rowText(r, key, foreign))
	before := w.rows(t, key.Partition)[key]
	others := groups[:r.IntN(len(groups)+1)] // whose lists have members that are not in the table
	for _, l := range views {
		switch {
		case strings.HasPrefix(l.name, "department"):
			w.put(t, r, foreignDepartment(r, l.department(key)))
		case l.byHand:
			at, row := l.rows(l, key, before, others, true)
			if !l.list() && l.only == nil && r.IntN(2) == 0 {
				row = respell(r, row, p.new)
			}
			w.put(t, r, row.json(at))
			for _, group := range others {
				if at, row := l.rows(l, key, stored{"Group": textProperty(group)}, others, false); l.list() && group != textIn(before["Group"]) {
					w.put(t, r, row.json(at))
				}
			}
		}
	}
	rowsBefore := w.rows(t, key.Partition)
	v, err := e.get(t.Context(), key)
	if err != nil {
		return fmt.Errorf("%w: the row %s", err, before.json(key))
	}
	c := drawChange(r, v, before)
	if c == nil {
		return nil
	}
	way := pick(r, e.ways(false)...)
	past := r.IntN(4) == 0
	if past {
		way = pick(r, tableWays...)
	}
	describe := func(err error) error {
		if *onlySeed != 0 {
			t.Logf("type: %v", p.new)
			for at, row := range rowsBefore {
				t.Logf("before: %s", row.json(at))
			}
			for at, row := range w.rows(t, key.Partition) {
				t.Logf("after: %s", row.json(at))
			}
		}
		return fmt.Errorf("a change of %s by %s with %v: %w", c, way, views, err)
	}
	if err := e.change(t.Context(), way, key, c.name, c.set); err != nil {
		return describe(err)
	}
	if err := e.pending(); err != nil {
		return describe(fmt.Errorf("pending: %w", err))
	}
	rows := w.rows(t, key.Partition)
	after := rows[key].without()
	if diff := c.diff(before, after, v); diff != "" {
		return describe(fmt.Errorf("\n%s", diff))
	}
	if !foreign {
		if err := c.decode(p.program, before, after, key); err != nil {
			return describe(err)
		}
	}
	want := maps.Clone(rowsBefore)
	want[key] = after
	for _, l := range views {
		if past {
			break
		}
		if at, row := l.rows(l, key, before, others, false); row == nil {
			delete(want, at)
		} else if l.list() {
			want[at] = row
		}
		at, row := l.rows(l, key, after, others, true)
		if !strings.HasPrefix(l.name, "department") {
			want[at] = unlessKept(row, rows[at], rowsBefore[at], c.name)
			continue
		}
		want[at] = maps.Clone(want[at])
		maps.Copy(want[at], row)
	}
	if diff := compare(rows, want); diff != "" {
		return describe(fmt.Errorf("\n%s", diff))
	}
	return nil
}

// unlessKept returns the row that a primary implies, but what is stored in place of it where that is what was stored before, in
// another spelling: nothing has changed it, or the changed property has the same content.
func unlessKept(implied, after, before stored, changed string) stored {
	implied = maps.Clone(implied)
	for _, names := range []stored{implied, before} {
		for name := range names {
			was, had := before[name]
			now, has := after[name]
			switch {
			case before == nil || name == changed && !sameContent(was, implied[name]) || was != now || had != has:
			case has:
				implied[name] = was
			default:
				delete(implied, name)
			}
		}
	}
	return implied
}

// sameContent reports whether two properties differ only in how they spell numbers, and in what is missing instead of zero or empty.
func sameContent(p, q property) bool {
	content := func(p property) (tree any) {
		text := p.text
		if text != "" && text[0] == '"' {
			text = textIn(p)
		}
		if json.Unmarshal([]byte(text), &tree) != nil {
			tree = text
		}
		return notEmpty(tree)
	}
	return reflect.DeepEqual(content(p), content(q))
}

// notEmpty returns a tree without members that are zero or empty, nil if nothing is left.
func notEmpty(tree any) any {
	switch t := tree.(type) {
	case map[string]any:
		for name, member := range t {
			if t[name] = notEmpty(member); t[name] == nil {
				delete(t, name)
			}
		}
		if len(t) > 0 {
			return t
		}
	case []any:
		for i := range t {
			t[i] = notEmpty(t[i])
		}
		if len(t) > 0 {
			return t
		}
	case nil:
	default:
		if !reflect.ValueOf(tree).IsZero() {
			return tree
		}
	}
	return nil
}

// compare describes how rows differ from want, apart from what a Store adds.
func compare(rows, want map[keys.Key]stored) string {
	var b strings.Builder
	all := maps.Clone(rows)
	maps.Copy(all, want)
	for key := range all {
		got, found := rows[key]
		wanted, implied := want[key]
		switch {
		case strings.HasPrefix(key.Row, "~azp"):
		case !implied:
			fmt.Fprintf(&b, "  row %s/%s should not exist: %v\n", key.Partition, key.Row, got)
		case !found:
			fmt.Fprintf(&b, "  row %s/%s is missing\n", key.Partition, key.Row)
		default:
			if diff := got.without().diff(wanted.without()); diff != "" {
				fmt.Fprintf(&b, "  row %s/%s:\n%s", key.Partition, key.Row, diff)
			}
		}
	}
	return b.String()
}
