package format_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/dataseries"
	"github.com/azpatterns/azpatterns/patterns/encryption"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

var entityGroups = []group{
	{name: "wide", write: writeWide, read: readWide, large: true},
	{name: "wide-staged", write: writeStaged, read: readStaged, large: true},
	{name: "series", write: writeSeries, read: readSeries},
	{name: "family", write: writeFamily, read: readFamily},
	{name: "type", write: writeType, read: readType},
	{name: "encryption", write: writeEncryption, read: readEncryption},
}

type properties = map[string]any

func (w *world) wide(opts *wideentity.Options[properties]) *wideentity.Table[properties] {
	w.Helper()
	table, err := wideentity.New(w.table("wide"), opts)
	w.must(err)
	return table
}

// days is a year of counts.
func days(id string) properties {
	all := properties{"PartitionKey": "Sales", "RowKey": id}
	for day := 1; day <= 20; day++ {
		all[fmt.Sprintf("Day%03d", day)] = int32(day)
	}
	return all
}

func partOf(property string) int {
	if property < "Day011" {
		return 1
	}
	return 2
}

var (
	hashed  = &wideentity.Options[properties]{Parts: 3}
	ordered = &wideentity.Options[properties]{Parts: 2, PartOf: partOf}
	plain   = &wideentity.Options[properties]{Parts: 2, PartOf: partOf, Plain: true}
)

func writeWide(w *world) {
	year := days("hash")
	year["Text"] = strings.Repeat("text", 10_000) // in two pieces
	item, err := w.wide(hashed).Insert(w.Context(), &year)
	w.must(err)
	item.Value["Day003"] = int32(33)
	_, err = w.wide(hashed).Merge(w.Context(), item, "Day003")
	w.must(err)
	for id, opts := range map[string]*wideentity.Options[properties]{"own": ordered, "plain": plain} {
		year = days(id)
		_, err = w.wide(opts).Insert(w.Context(), &year)
		w.must(err)
	}
}

func readWide(w *world) {
	for id, opts := range map[string]*wideentity.Options[properties]{"hash": hashed, "own": ordered, "plain": plain} {
		table := w.wide(opts)
		item, err := table.Get(w.Context(), employeeKey(id))
		w.must(err)
		want := days(id)
		if id == "hash" {
			want["Text"], want["Day003"] = strings.Repeat("text", 10_000), int32(33)
		}
		w.equal(fmt.Sprint(item.Value), fmt.Sprint(want))
		w.must(w.Fault(loseReply("Table.Batch"))) // the versions show that it was applied
		item.Value["Day004"] = int32(44)
		_, err = table.Merge(w.Context(), item, "Day004")
		w.must(err)
		w.ClearFaults()
		_, err = table.Update(w.Context(), employeeKey(id), func(v *properties) error { (*v)["Day005"] = int32(55); return nil })
		w.must(err)
		item, err = table.Get(w.Context(), employeeKey(id))
		w.must(err)
		w.equal(item.Value["Day004"], any(int32(44)))
		w.equal(item.Value["Day005"], any(int32(55)))
	}
}

// large is a value that does not fit into one transaction.
func large(id string) properties {
	all := properties{"PartitionKey": "Sales", "RowKey": id}
	for i := range 144 {
		all[fmt.Sprintf("Page%03d", i)] = strings.Repeat(string(rune('a'+i%26)), 30_000)
	}
	return all
}

// An entity in staged rows, and another whose writer has died before the head refers to them.
func writeStaged(w *world) {
	table := w.wide(hashed16)
	value := large("stored")
	_, err := table.Insert(w.Context(), &value)
	w.must(err)
	value = large("lost")
	w.must(w.Fault(diesAt(3, "Table.Batch")))
	_, _ = table.Insert(w.Context(), &value)
	w.ClearFaults()
}

var hashed16 = &wideentity.Options[properties]{Parts: 16}

func readStaged(w *world) {
	table := w.wide(hashed16)
	item, err := table.Get(w.Context(), employeeKey("stored"))
	w.must(err)
	w.equal(fmt.Sprint(item.Value) == fmt.Sprint(large("stored")), true)
	if _, err = table.Get(w.Context(), employeeKey("lost")); err == nil {
		w.Error("an entity is found that was never stored")
	}
	time.Sleep(48 * time.Hour)
	report, err := table.Sweep(w.Context(), nil)
	w.must(err)
	w.equal(report.Done > 0, true)
	for _, row := range w.record().Tables["wide"] {
		if key := row["RowKey"].(string); strings.HasPrefix(key, "lost") {
			w.Errorf("the sweep has left row %s", key)
		}
	}
	_, err = table.Update(w.Context(), employeeKey("stored"), func(v *properties) error { (*v)["Page001"] = "new"; return nil })
	w.must(err)
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (w *world) series() *dataseries.Series[int64] {
	w.Helper()
	s, err := dataseries.New[int64](w.table("series"), dataseries.HoursOfDay(), nil)
	w.must(err)
	return s
}

var counts = dataseries.ID{Partition: "Sales", Series: "000123"}

func writeSeries(w *world) {
	s := w.series()
	w.must(s.Add(w.Context(), counts, noon, 5))
	w.must(s.Set(w.Context(), counts, noon.Add(time.Hour), 7))
	w.must(s.Add(w.Context(), counts, noon.Add(-25*time.Hour), 9)) // of the day before
}

func readSeries(w *world) {
	s := w.series()
	w.must(w.Fault(loseReply("Table.Merge"))) // the id of the addition shows that it was applied
	w.must(s.Add(w.Context(), counts, noon, 1))
	points, err := s.Get(w.Context(), counts, noon)
	w.must(err)
	var found []string
	for _, p := range points {
		found = append(found, fmt.Sprint(p.Time.Hour(), " ", p.Value))
	}
	w.equal(found, []string{"12 6", "13 7"})
	points, err = s.Get(w.Context(), counts, noon.Add(-24*time.Hour))
	w.must(err)
	w.equal(len(points), 1)
}

type worker struct{ Department, ID, Name string }

type review struct {
	Department, EmployeeID, Year string
	Rating                       int32
}

func (w *world) family() *compoundkey.Family[worker, review] {
	w.Helper()
	f, err := compoundkey.New(w.table("family"),
		func(e *worker) compoundkey.ID { return compoundkey.ID{Partition: e.Department, Parent: e.ID} },
		func(r *review) (compoundkey.ID, string) {
			return compoundkey.ID{Partition: r.Department, Parent: r.EmployeeID}, r.Year
		}, nil)
	w.must(err)
	return f
}

var parent = compoundkey.ID{Partition: "Sales", Parent: "00/123"}

func writeFamily(w *world) {
	_, err := w.family().Insert(w.Context(), &worker{"Sales", "00/123", "Ken"}, &review{"Sales", "00/123", "2011", 3}, &review{"Sales", "00/123", "20_12", 5})
	w.must(err)
}

func readFamily(w *world) {
	f := w.family()
	members, err := f.Get(w.Context(), parent)
	w.must(err)
	w.equal(members.Parent.Value.Name, "Ken")
	w.equal(len(members.Children), 2)
	_, _, err = f.Update(w.Context(), parent, "20_12", func(_ *worker, r *review) error { r.Rating++; return nil })
	w.must(err)
	child, err := f.Child(w.Context(), parent, "20_12")
	w.must(err)
	w.equal(child.Value.Rating, int32(6))
	w.must(f.Delete(w.Context(), parent))
}

type nameOnly struct{ Name string }

type fullName struct{ First, Last string }

func (w *world) types() *entitytype.Table {
	w.Helper()
	r, err := entitytype.NewRegistry(nil)
	w.must(err)
	w.must(entitytype.Register(r, "Employee", 1, func(e nameOnly) (any, error) {
		first, last, _ := strings.Cut(e.Name, " ")
		return fullName{first, last}, nil
	}))
	w.must(entitytype.Register[fullName](r, "Employee", 2, nil))
	table, err := entitytype.New(w.table("types"), r, nil)
	w.must(err)
	return table
}

func writeType(w *world) {
	r, err := entitytype.NewRegistry(nil)
	w.must(err)
	w.must(entitytype.Register[nameOnly](r, "Employee", 1, nil))
	old, err := entitytype.New(w.table("types"), r, nil)
	w.must(err)
	_, err = old.Insert(w.Context(), employeeKey("1"), &nameOnly{"Ken Kwok"})
	w.must(err)
	_, err = w.types().Insert(w.Context(), employeeKey("2"), &fullName{"Ann", "Beebe"})
	w.must(err)
}

func readType(w *world) {
	for id, want := range map[string]fullName{"1": {"Ken", "Kwok"}, "2": {"Ann", "Beebe"}} {
		e, err := w.types().Get(w.Context(), employeeKey(id))
		w.must(err)
		w.equal(*e.Value.(*fullName), want)
	}
}

type secret struct {
	PartitionKey, RowKey string
	Email                string    `table:",encrypted"`
	Born                 time.Time `table:",encrypted"`
	Salary               float64   `table:",encrypted"`
	Codes                []int     `table:",encrypted,json"`
	Blind                string
}

func (w *world) secrets(key byte) *patterns.Table[secret] {
	w.Helper()
	ring, err := encryption.RingOf("2026", map[string][]byte{"2026": slices.Repeat([]byte{key}, 32)})
	w.must(err)
	table, err := patterns.NewTable(w.table("secrets"), &patterns.TableOptions[secret]{Encryption: &patterns.Encryption{Keys: ring, Table: "secrets"}})
	w.must(err)
	return table
}

func newSecret(w *world) secret {
	blind, err := keys.Blind(slices.Repeat([]byte{9}, 32), "jones@contoso.com", 0)
	w.must(err)
	return secret{"Sales", "1", "jones@contoso.com", hired, 1234.5, []int{1, 2}, blind}
}

func writeEncryption(w *world) {
	value := newSecret(w)
	_, err := w.secrets(7).Insert(w.Context(), &value)
	w.must(err)
}

func readEncryption(w *world) {
	item, err := w.secrets(7).Get(w.Context(), employeeKey("1"))
	w.must(err)
	w.equal(item.Value, newSecret(w))
	if _, err = w.secrets(8).Get(w.Context(), employeeKey("1")); err == nil {
		w.Error("another key opens the values")
	}
	before := w.record().Tables["secrets"][0]
	_, err = w.secrets(7).Replace(w.Context(), item)
	w.must(err)
	w.equal(maps.Equal(before, w.record().Tables["secrets"][0]), true) // the same content is stored as the same bytes
}
