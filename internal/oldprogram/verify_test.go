package oldprogram

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// guideLayouts are those whose rows a Store finds without properties of its own.
func guideLayouts() []*layout {
	return slices.DeleteFunc(slices.Clone(layouts), func(l *layout) bool { return !l.byHand || strings.HasPrefix(l.name, "adopt") })
}

// population is a table that programs without azpatterns have filled: primaries from before and after a release that adds fields,
// with copies and lists.
type population struct {
	*world
	*rand.Rand
	testing.TB
	p         *staticProgram
	primaries map[keys.Key]stored
	rows      map[keys.Key]stored // derived ones
	untouched []keys.Key          // primaries without a planted error, in random order
	want      map[reindex.Finding]string
}

// plantable are the programs of whose rows each kind of error can be planted: they have numbers of every type.
func plantable() []*staticProgram {
	return slices.DeleteFunc(slices.Clone(statics), func(p *staticProgram) bool {
		var integer, float bool
		for _, f := range fieldsOf(p.new) {
			integer = integer || f.typ == typ[int]() || f.typ == typ[int64]()
			float = float || f.typ == typ[float64]()
		}
		return !integer || !float
	})
}

const partitions, perPartition = 4, 16

func populate(t testing.TB, b *harness.Backend, seed uint64) *population {
	s := &population{
		world: newWorld(t, b), Rand: rand.New(rand.NewPCG(seed, 5)), TB: t,
		primaries: map[keys.Key]stored{}, rows: map[keys.Key]stored{}, want: map[reindex.Finding]string{},
	}
	s.p = pick(s.Rand, plantable()...)
	for i := range partitions * perPartition {
		key := keys.Key{Partition: fmt.Sprintf("p%d", i/perPartition), Row: fmt.Sprintf("%06d", i)}
		var row map[string]json.RawMessage
		must(json.Unmarshal(s.p.rowText(s.Rand, key, s.IntN(2) == 0), &row))
		row["Mail"] = json.RawMessage(fmt.Sprintf(`"m%d"`, i))
		text, err := json.Marshal(row)
		must(err)
		s.put(t, s.Rand, text)
		s.untouched = append(s.untouched, key)
	}
	s.Shuffle(len(s.untouched), func(i, j int) { s.untouched[i], s.untouched[j] = s.untouched[j], s.untouched[i] })
	s.primaries = s.world.rows(t, "p")
	for _, key := range s.untouched {
		for _, l := range guideLayouts() {
			at, row := l.rows(l, key, s.primaries[key], nil, true)
			if list := s.rows[at]; l.list() && list != nil {
				row[l.property()] = textProperty(textIn(list[l.property()]) + "," + textIn(row[l.property()]))
			}
			if !l.list() {
				row = respell(s.Rand, row, s.p.new)
			}
			s.rows[at] = row
		}
	}
	for at, row := range s.rows {
		s.store(at, row)
	}
	return s
}

// store stores a row by aztables, in place of another one.
func (s *population) store(at keys.Key, row stored) {
	_, _ = s.hand.DeleteEntity(s.Context(), at.Partition, at.Row, nil)
	s.put(s.TB, s.Rand, row.json(at))
	s.rows[at] = row
}

func (s *population) remove(at keys.Key) {
	assert.NoError(s.TB, assert.ErrorOf(s.hand.DeleteEntity(s.Context(), at.Partition, at.Row, nil)))
}

func TestVerifyFindsWhatIsWrongInATableWrittenByHandAndNothingElse(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		planted := map[string]int{}
		cases(t, b, 8*casesPerPopulation, harness.Sized(1, 4)*casesPerPopulation, func(seed uint64) error {
			if seed%casesPerPopulation != 0 && *onlySeed == 0 {
				return nil
			}
			s := populate(t, b, seed)
			e, err := s.p.open(t, s.world, guideLayouts())
			if err != nil {
				return err
			}
			if found, err := e.verify(t.Context()); err != nil || len(found) > 0 {
				return fmt.Errorf("%v: %d findings in a correct table, %v\n%s", s.p.new, len(found), err, s.describe(found))
			}
			if err := s.changeSome(e); err != nil {
				return err
			}
			if found, err := e.verify(t.Context()); err != nil || len(found) > 0 {
				return fmt.Errorf("%v: %d findings after changes by a Store, %v\n%s", s.p.new, len(found), err, s.describe(found))
			}
			for _, m := range mistakes {
				if m.plant(s) {
					planted[m.name]++
				}
			}
			found, err := e.verify(t.Context())
			if err != nil {
				return err
			}
			return s.check(found)
		})
		for _, m := range mistakes {
			if planted[m.name] == 0 && *onlySeed == 0 {
				t.Errorf("%s was never planted", m.name)
			}
		}
		t.Logf("planted: %v", planted)
	})
}

// casesPerPopulation is how many cases of a run a population counts as. With -short a run has a quarter of its cases, and at least
// one population.
const casesPerPopulation = 64

// changeSome changes some primaries by a Store, and reads all rows again.
func (s *population) changeSome(e storeEditor) error {
	for _, key := range s.untouched[:8] {
		v, err := e.get(s.Context(), key)
		if err != nil {
			return err
		}
		c := drawChange(s.Rand, v, s.primaries[key])
		if c == nil || c.name == "Mail" {
			continue
		}
		if err := e.change(s.Context(), pick(s.Rand, e.ways(false)...), key, c.name, c.set); err != nil {
			return fmt.Errorf("a change of %v: %w", c, err)
		}
	}
	for at, row := range s.world.rows(s.TB, "p") {
		if _, primary := s.primaries[at]; primary {
			s.primaries[at] = row.without()
		} else {
			s.rows[at] = row
		}
	}
	return nil
}

func (s *population) check(found []reindex.Finding) error {
	var b strings.Builder
	for _, f := range found {
		if s.want[f] == "" {
			fmt.Fprintf(&b, "  not planted: %s", s.describe([]reindex.Finding{f}))
		}
		delete(s.want, f)
	}
	for f, kind := range s.want {
		fmt.Fprintf(&b, "  not found: %s: %s", kind, s.describe([]reindex.Finding{f}))
	}
	if b.Len() > 0 {
		return fmt.Errorf("%v:\n%s", s.p.new, b.String())
	}
	return nil
}

func (s *population) describe(found []reindex.Finding) string {
	var b strings.Builder
	for _, f := range found[:min(len(found), 3)] {
		fmt.Fprintf(&b, "%s %s at %s/%s of %s\n    %s\n    primary %s\n", f.View, f.Kind, f.Row.Partition, f.Row.Row, f.Primary.Row, s.rows[f.Row].json(f.Row), s.primaries[f.Primary].json(f.Primary))
	}
	return b.String()
}

// next takes a primary without a planted error for which ok is true.
func (s *population) next(ok func(stored) bool) (key keys.Key, primary stored, found bool) {
	for i, key := range s.untouched {
		if row := s.primaries[key]; ok == nil || ok(row) {
			s.untouched = slices.Delete(s.untouched, i, i+1)
			return key, row, true
		}
	}
	return keys.Key{}, nil, false
}

func layoutNamed(names ...string) []*layout {
	return slices.DeleteFunc(slices.Clone(layouts), func(l *layout) bool { return !slices.Contains(names, l.name) })
}

// mistakes are the errors that are planted. Each returns false if no row has what it needs.
var mistakes = []struct {
	name  string
	plant func(s *population) bool
}{
	{"copy missing", inCopy(reindex.Missing, nil, func(s *population, at keys.Key, row stored, primary stored) stored { return nil })},
	{"text differs", inCopy(reindex.Wrong, nil, func(s *population, _ keys.Key, row, _ stored) stored {
		row["Group"] = textProperty(textIn(row["Group"]) + "x")
		return row
	})},
	{"text differs in case", inCopy(reindex.Wrong, nil, func(s *population, _ keys.Key, row, _ stored) stored {
		row["Group"] = textProperty(strings.ToLower(textIn(row["Group"])))
		return row
	})},
	{"text is missing", inCopy(reindex.Wrong, nil, func(s *population, _ keys.Key, row, _ stored) stored {
		delete(row, "Group")
		return row
	})},
	{"number differs", inCopy(reindex.Wrong, has("Edm.Int32"), differ("Edm.Int32", func(p property) property { return property{other(p.text, "7", "8"), p.edm} }))},
	{"number is missing", inCopy(reindex.Wrong, has("Edm.Double"), differ("Edm.Double", func(property) property { return property{} }))},
	{"Int64 differs", inCopy(reindex.Wrong, has("Edm.Int64"), differ("Edm.Int64", func(p property) property { return property{other(p.text, `"7"`, `"8"`), p.edm} }))},
	{"other property differs", inCopy(reindex.Wrong, hasUnknown, func(s *population, _ keys.Key, row, primary stored) stored {
		row["Unknown0"] = textProperty("planted")
		return row
	})},
	{"other property is missing", inCopy(reindex.Wrong, hasUnknown, func(s *population, _ keys.Key, row, primary stored) stored {
		delete(row, "Unknown0")
		return row
	})},
	{"other property is added", inCopy(reindex.Wrong, nil, func(s *population, _ keys.Key, row, primary stored) stored {
		row["Planted"] = textProperty("planted")
		return row
	})},
	{"slim copy differs", inSlim(func(row stored) stored { row["Group"] = textProperty("planted"); return row })},
	{"copy names no primary", inCopy(reindex.Duplicate, nil, func(s *population, at keys.Key, row, _ stored) stored {
		delete(row, "ID")
		for _, l := range layoutNamed("list", "listremote") { // the row is a primary then
			list, _ := l.rows(l, at, row, nil, true)
			s.want[reindex.Finding{Kind: reindex.Missing, View: l.name, Row: list, Primary: at}] = "a primary by mistake"
		}
		return row
	})},
	{"copy of another value", func(s *population) bool { return s.orphan(false) }},
	{"copy of a primary that does not exist", func(s *population) bool { return s.orphan(true) }},
	{"member is missing", func(s *population) bool {
		return s.member(reindex.Missing, func(list []string, member string) []string {
			return slices.DeleteFunc(list, func(m string) bool { return m == member })
		})
	}},
	{"member does not exist", func(s *population) bool {
		l, at, list := s.list()
		ghost := keys.Key{Partition: strings.TrimSuffix(at.Partition, "-"+l.name), Row: fmt.Sprintf("9%05d", s.IntN(1e5))}
		s.want[reindex.Finding{Kind: reindex.Orphan, View: l.name, Row: at, Primary: ghost}] = "member does not exist"
		s.setList(l, at, append(list, l.member(ghost)))
		return true
	}},
	{"member has another value", func(s *population) bool {
		l, at, list := s.list()
		partition := strings.TrimSuffix(at.Partition, "-"+l.name)
		for i, key := range s.untouched {
			if key.Partition == partition && !slices.Contains(list, l.member(key)) {
				s.untouched = slices.Delete(s.untouched, i, i+1)
				s.want[reindex.Finding{Kind: reindex.Orphan, View: l.name, Row: at, Primary: key}] = "member has another value"
				s.setList(l, at, append(list, l.member(key)))
				return true
			}
		}
		return false
	}},
	{"list is missing", func(s *population) bool {
		l, at, list := s.list()
		for _, member := range list {
			key := keys.Key{Partition: strings.TrimSuffix(at.Partition, "-"+l.name), Row: member[strings.LastIndex(member, "/")+1:]}
			f := reindex.Finding{Kind: reindex.Missing, View: l.name, Row: at, Primary: key}
			if delete(s.want, reindex.Finding{Kind: reindex.Orphan, View: l.name, Row: at, Primary: key}); s.implies(l, at, key) {
				s.want[f] = "list is missing"
			}
		}
		s.remove(at)
		delete(s.rows, at)
		return true
	}},
	{"primary is missing", func(s *population) bool {
		key, primary, ok := s.next(func(p stored) bool { return true })
		if !ok {
			return false
		}
		for _, l := range guideLayouts() {
			at, _ := l.rows(l, key, primary, nil, true)
			if delete(s.want, reindex.Finding{Kind: reindex.Missing, View: l.name, Row: at, Primary: key}); s.rows[at] != nil {
				s.want[reindex.Finding{Kind: reindex.Orphan, View: l.name, Row: at, Primary: key}] = "primary is missing"
			}
		}
		s.remove(key)
		return true
	}},
}

// inCopy changes a full copy.
func inCopy(kind reindex.Kind, ok func(*population, stored) bool, change func(s *population, at keys.Key, row, primary stored) stored) func(*population) bool {
	return func(s *population) bool {
		key, primary, found := s.next(func(row stored) bool { return ok == nil || ok(s, row) })
		if !found {
			return false
		}
		l := pick(s.Rand, layoutNamed("guide", "guideremote")...)
		return s.change(l, kind, key, primary, change)
	}
}

func inSlim(change func(stored) stored) func(*population) bool {
	return func(s *population) bool {
		key, primary, found := s.next(nil)
		return found && s.change(layoutNamed("guideslim")[0], reindex.Wrong, key, primary, func(_ *population, _ keys.Key, row, _ stored) stored { return change(row) })
	}
}

func (s *population) change(l *layout, kind reindex.Kind, key keys.Key, primary stored, change func(*population, keys.Key, stored, stored) stored) bool {
	at, _ := l.rows(l, key, primary, nil, true)
	row := change(s, at, s.rows[at].without(), primary)
	s.want[reindex.Finding{Kind: kind, View: l.name, Row: at, Primary: key}] = "a copy"
	if row == nil {
		s.remove(at)
		return true
	}
	s.store(at, row)
	return true
}

// typedProperty returns a property that the new struct has, with the type and another value than zero.
func (s *population) typedProperty(row stored, edm string) string {
	for _, f := range fieldsOf(s.p.new) {
		if p := row[f.name]; p.edm == edm && strings.Trim(p.text, `"-0.`) != "" && f.typ.PkgPath() == "" && !strings.Contains(f.name, "@") {
			return f.name
		}
	}
	return ""
}

func has(edm string) func(*population, stored) bool {
	return func(s *population, row stored) bool { return s.typedProperty(row, edm) != "" }
}

func hasUnknown(_ *population, row stored) bool {
	p, found := row["Unknown0"]
	return found && p.text != `""` && strings.Trim(p.text, `"-0.`) != "" && p.text != "false"
}

// differ changes the property in the copy that has the type in the primary.
func differ(edm string, change func(property) property) func(*population, keys.Key, stored, stored) stored {
	return func(s *population, _ keys.Key, row, primary stored) stored {
		name := s.typedProperty(primary, edm)
		if p := change(primary[name]); p.text != "" {
			row[name] = p
		} else {
			delete(row, name)
		}
		return row
	}
}

// other returns a text that is not text.
func other(text, a, b string) string {
	if text == a {
		return b
	}
	return a
}

// orphan stores one copy more of a primary, or of one that does not exist.
func (s *population) orphan(ghost bool) bool {
	key, primary, found := s.next(nil)
	if !found {
		return false
	}
	l := pick(s.Rand, layoutNamed("guide", "guideslim", "guideremote")...)
	primary = maps.Clone(primary)
	primary["Mail"] = textProperty("planted" + key.Row)
	if ghost {
		key.Row = "9" + key.Row[1:]
	}
	at, row := l.rows(l, key, primary, nil, true)
	s.want[reindex.Finding{Kind: reindex.Orphan, View: l.name, Row: at, Primary: key}] = "one copy more"
	s.store(at, row)
	return true
}

// list returns a list of the table.
func (s *population) list() (*layout, keys.Key, []string) {
	l := pick(s.Rand, layoutNamed("list", "listremote")...)
	var all []keys.Key
	for at, row := range s.rows {
		if row[l.property()].text != "" {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, keys.Key.Compare)
	at := pick(s.Rand, all...)
	return l, at, strings.Split(textIn(s.rows[at][l.property()]), ",")
}

func (s *population) setList(l *layout, at keys.Key, members []string) {
	if len(members) == 0 {
		s.remove(at)
		delete(s.rows, at)
		return
	}
	s.store(at, stored{l.property(): textProperty(strings.Join(members, ","))})
}

// member is a primary in a list.
func (l *layout) member(key keys.Key) string {
	if l.remote {
		return key.Partition + "/" + key.Row
	}
	return key.Row
}

// member changes the list that contains a primary.
func (s *population) member(kind reindex.Kind, change func([]string, string) []string) bool {
	key, primary, found := s.next(nil)
	if !found {
		return false
	}
	l := pick(s.Rand, layoutNamed("list", "listremote")...)
	at, _ := l.rows(l, key, primary, nil, true)
	s.want[reindex.Finding{Kind: kind, View: l.name, Row: at, Primary: key}] = "a list"
	s.setList(l, at, change(strings.Split(textIn(s.rows[at][l.property()]), ","), l.member(key)))
	return true
}

// implies reports whether a primary implies that it is a member of the list at a key.
func (s *population) implies(l *layout, at keys.Key, key keys.Key) bool {
	primary, found := s.primaries[key]
	if !found {
		return false
	}
	of, _ := l.rows(l, key, primary, nil, true)
	return of == at
}
