package oldprogram

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
)

// casesVariable is the environment variable with the number of cases that each mode runs.
const casesVariable = "AZPATTERNS_OLDPROGRAM"

var onlySeed = flag.Uint64("oldprogram.seed", 0, "run only the case with this seed")

// failed are seeds of cases that failed once.
var failed = []uint64{181715493846525, 14104014851751, 142957262297604, 57439235887603}

// cases calls run with new seeds, and with those that failed once. On Azurite, where a case takes some 20 ms, it has another number of
// cases.
func cases(t *testing.T, b *harness.Backend, number, onAzurite int, run func(seed uint64) error) {
	t.Helper()
	first, old := rand.Uint64()>>16, failed
	number, onAzurite = harness.Sized(number, number/4), harness.Sized(onAzurite, onAzurite/4)
	if n, err := strconv.Atoi(os.Getenv(casesVariable)); err == nil {
		number, onAzurite = n, max(1, n/100)
	}
	if !b.InProcess() {
		number = onAzurite
	}
	if *onlySeed != 0 {
		first, number, old = *onlySeed, 1, nil
	}
	bad := 0
	alike := map[string]int{}
	one := func(seed uint64) {
		if err := run(seed); err != nil {
			bad++
			text := err.Error()
			begin := text[:min(len(text), 40)]
			if alike[begin]++; alike[begin] <= 2 && len(alike) <= 20 {
				t.Errorf("-oldprogram.seed=%d: %v", seed, err)
			}
		}
		b.ResetRequests()
	}
	for _, seed := range old {
		one(seed)
	}
	for i := range uint64(number) {
		one(first + i)
	}
	if bad > 0 {
		t.Fail()
	}
	t.Logf("%d cases from seed %d, %d with differences", number, first, bad)
}

// typesEvery is how many successive seeds share their types.
const typesEvery = 50

func TestATableKeepsWhatWasNotChanged(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b)
		var p *program
		var e editor
		var open error
		cases(t, b, 2000, 500, func(seed uint64) (err error) {
			if name := seed / typesEvery; p == nil || p.seed != name {
				p = generate(name)
				e, open = p.edit(w.client)
			}
			if open != nil {
				return open
			}
			r := rand.New(rand.NewPCG(seed, 1))
			key := keys.Key{Partition: fmt.Sprintf("p%d.", seed), Row: "row"}
			foreign := r.IntN(3) == 0
			w.write(t, r, p, key, foreign)
			if err := w.tableCase(t, r, p, e, key, foreign); err != nil {
				return err
			}
			_, err = w.hand.DeleteEntity(t.Context(), key.Partition, key.Row, nil)
			return err
		})
	})
}

// write stores a row as the old program does, or as a program that does not share its types.
func (w *world) write(t testing.TB, r *rand.Rand, p *program, key keys.Key, foreign bool) {
	t.Helper()
	w.put(t, r, p.rowText(r, key, foreign))
}

// rowText returns a row as the old program, or a foreign one, encodes it.
func (p *program) rowText(r *rand.Rand, key keys.Key, foreign bool) []byte {
	if foreign {
		e := foreignRow(r, p.new)
		e.PartitionKey, e.RowKey = key.Partition, key.Row
		delete(e.Properties, "ID")
		e.Properties["Mail"], e.Properties["Group"] = "m"+randomKey(r), pick(r, groups...)
		return textOf(reflect.ValueOf(&e).Elem())
	}
	return textOf(p.oldValue(r, key))
}

// put stores a row by aztables.
func (w *world) put(t testing.TB, r *rand.Rand, text []byte) {
	t.Helper()
	var err error
	switch r.IntN(3) {
	case 0:
		_, err = w.hand.AddEntity(t.Context(), text, nil)
	case 1:
		_, err = w.hand.UpsertEntity(t.Context(), text, nil)
	default:
		_, err = w.hand.UpsertEntity(t.Context(), text, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	}
	assert.NoError(t, err, "the old program stores", text)
}

// oldValue is a random value of the old struct.
func (p *program) oldValue(r *rand.Rand, key keys.Key) reflect.Value {
	old := reflect.New(p.old).Elem()
	fill(r, old)
	for _, f := range fieldsOf(p.old) {
		if doc := p.docs[f.name]; doc != nil {
			v := reflect.New(doc).Elem()
			fill(r, v)
			f.of(old).Set(reflect.ValueOf(Nested{v.Interface()}))
		}
	}
	for name, text := range map[string]string{"PartitionKey": key.Partition, "RowKey": key.Row, "ID": "", "Mail": "m" + randomKey(r), "Group": pick(r, groups...)} {
		old.FieldByName(name).SetString(text)
	}
	return old
}

var groups = []string{"Jones", "Kwok", "Cao"}

// tableCase changes one field of a row, and compares all that is stored.
func (w *world) tableCase(t testing.TB, r *rand.Rand, p *program, e editor, key keys.Key, foreign bool) error {
	before := w.rows(t, key.Partition)[key]
	v, err := e.get(t.Context(), key)
	if err != nil {
		return fmt.Errorf("%w: the row %s", err, before.json(key))
	}
	c := drawChange(r, v, before)
	if c == nil {
		return nil
	}
	way := pick(r, e.ways(!c.removes && r.IntN(3) == 0)...)
	describe := func(err error) error {
		if *onlySeed != 0 {
			t.Logf("before: %s\ntype: %v", before.json(key), p.new)
		}
		return fmt.Errorf("a change of %s by %s: %w", c, way, err)
	}
	if err := e.change(t.Context(), way, key, c.name, c.set); err != nil {
		return describe(err)
	}
	after := w.rows(t, key.Partition)[key]
	if diff := c.diff(before, after, v); diff != "" {
		return describe(fmt.Errorf("\n%s", diff))
	}
	now, err := e.get(t.Context(), key)
	if err != nil {
		return describe(err)
	}
	c.set(v)
	if got, want := textOf(now), textOf(v); !c.equal(now, v) {
		return describe(fmt.Errorf("azpatterns reads\n  %s, want\n  %s", got, want))
	}
	if !foreign {
		if err := c.decode(p, before, after, key); err != nil {
			return describe(err)
		}
	}
	return nil
}

// diff describes what else than the change is stored after it.
func (c *change) diff(before, after stored, v reflect.Value) string {
	if diff := after.without(c.name).diff(before.without(c.name)); diff != "" {
		return diff
	}
	was, now := before[c.name], after[c.name]
	if c.json && c.removes {
		changed := clone(v)
		c.set(changed)
		want := rest(treeOf(was.text), treeIn(textOf(fieldOf(v, c.index))), treeIn(textOf(fieldOf(changed, c.index))))
		if got := treeOf(now.text); (got == nil) != (want == nil) || want != nil && !reflect.DeepEqual(got, want) {
			return fmt.Sprintf("  %s, made zero: %s\n  was %s\n  want %s\n", c.name, now.text, was.text, textOf(reflect.ValueOf(&want).Elem()))
		}
		return ""
	}
	if was.edm == "" || now.edm == "" || c.declares != "" || fieldNamed(v.Type(), c.name+"@odata.type").name != "" {
		return ""
	}
	number := func(p property) bool { return p.edm == "Edm.Int32" || p.edm == "Edm.Double" }
	if was.edm != now.edm && !(number(was) && number(now) && (now.edm == "Edm.Double" || isScalar(c.typ))) {
		return fmt.Sprintf("  %s: %s %s, was %s %s\n", c.name, now.edm, now.text, was.edm, was.text)
	}
	if !c.json {
		return ""
	}
	changed := clone(v)
	c.set(changed)
	want := graft(treeOf(was.text), treeIn(textOf(fieldOf(changed, c.index))), c.path)
	if got := treeOf(now.text); !reflect.DeepEqual(got, want) {
		return fmt.Sprintf("  %s, path %v: %s\n  was %s\n  want %s\n", c.name, c.path, now.text, was.text, textOf(reflect.ValueOf(&want).Elem()))
	}
	return ""
}

// rest returns the members of a tree that the new struct does not have, nil for none. was and is are the trees of its values.
func rest(tree, was, is any) any {
	t, ok1 := tree.(map[string]any)
	w, ok2 := was.(map[string]any)
	i, ok3 := is.(map[string]any)
	if !ok1 || !ok2 || !ok3 {
		return nil
	}
	found := map[string]any{}
	for name, member := range t {
		known, had := w[name]
		if now, has := i[name]; had || has {
			if member = rest(member, known, now); member == nil {
				continue
			}
		}
		found[name] = member
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// treeOf returns the JSON value whose text is in a JSON string, nil for no text.
func treeOf(text string) any {
	if text == "" {
		return nil
	}
	var inner string
	must(json.Unmarshal([]byte(text), &inner))
	return treeIn([]byte(inner))
}

func treeIn(text []byte) (tree any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	must(d.Decode(&tree))
	return tree
}

// graft returns the tree with the member at path taken from another one.
func graft(tree, from any, path []any) any {
	if len(path) == 0 {
		return from
	}
	switch from := from.(type) {
	case map[string]any:
		tree, ok := tree.(map[string]any)
		name := path[0].(string)
		member, found := from[name]
		switch {
		case !ok:
			return from
		case !found:
			delete(tree, name)
		default:
			old, had := tree[name]
			if !had {
				path = path[:1]
			}
			tree[name] = graft(old, member, path[1:])
		}
		return tree
	case []any:
		tree, ok := tree.([]any)
		i := path[0].(int)
		switch {
		case !ok:
			return from
		case i == len(tree):
			tree = append(tree, from[i])
		default:
			tree[i] = graft(tree[i], from[i], path[1:])
		}
		return tree
	}
	return from
}

// equal reports whether two values of the row are the same, apart from what Timestamp is.
func (c *change) equal(a, b reflect.Value) bool {
	for _, f := range fieldsOf(a.Type()) {
		x, y := fieldOf(a, f.index), fieldOf(b, f.index)
		switch {
		case strings.Contains(f.name, "@"):
		case !x.IsValid() || !y.IsValid():
			empty := func(v reflect.Value) bool {
				return !v.IsValid() || v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
			}
			if !empty(x) || !empty(y) {
				return false
			}
		case !sameValue(x, y):
			return false
		}
	}
	return true
}

func sameValue(x, y reflect.Value) bool {
	if x.Kind() == reflect.Pointer && !x.IsNil() && !y.IsNil() {
		return sameValue(x.Elem(), y.Elem())
	}
	if t, ok := x.Interface().(interface{ UnixNano() int64 }); ok && x.Kind() == reflect.Struct {
		return t.UnixNano() == y.Interface().(interface{ UnixNano() int64 }).UnixNano()
	}
	if n, ok := x.Interface().(json.Number); ok { // the service stores a number, not its text
		m := y.Interface().(json.Number)
		a, err1 := n.Float64()
		b, err2 := m.Float64()
		return n == m || err1 == nil && err2 == nil && a == b
	}
	if (x.Kind() == reflect.Slice || x.Kind() == reflect.Map) && x.Len() == 0 && y.Len() == 0 {
		return true
	}
	return bytes.Equal(textOf(x), textOf(y)) || reflect.DeepEqual(x.Interface(), y.Interface())
}

// decode checks that the old program reads the same row as before, apart from the change.
func (c *change) decode(p *program, before, after stored, key keys.Key) error {
	was, now := reflect.New(p.old).Elem(), reflect.New(p.old).Elem()
	must(json.Unmarshal(before.json(key), was.Addr().Interface()))
	if _, had := before[c.name]; !had || fieldNamed(p.old, c.name).typ != c.typ {
		after = after.without(c.name) // it has the type, or a value, of the new field
	}
	if err := json.Unmarshal(after.json(key), now.Addr().Interface()); err != nil {
		return fmt.Errorf("the old program cannot read %s: %w", after.json(key), err)
	}
	for _, f := range fieldsOf(p.old) {
		x, y := fieldOf(was, f.index), fieldOf(now, f.index)
		if f.name != c.name && f.name != c.name+"@odata.type" && (x.IsValid() != y.IsValid() || x.IsValid() && !bytes.Equal(textOf(x), textOf(y))) {
			return fmt.Errorf("the old program reads %s instead of %s", textOf(y), textOf(x))
		}
	}
	return nil
}
