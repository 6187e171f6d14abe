package outbox_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// hire is an employee with a row in every kind of view.
type hire struct {
	Dept, ID           string
	Name, Email, Badge string
	Last               string
	Age                int32
	Head               bool // of the department
}

func (h *hire) key() keys.Key { return keys.Key{Partition: h.Dept, Row: "id_" + h.ID} }

func jones() *hire {
	return &hire{Dept: "Sales", ID: "000223", Name: "Ann Jones", Email: "jonesj@contoso.com", Badge: "B7", Last: "Jones", Age: 34}
}

// jsonList stores members as one sorted JSON text.
type jsonList struct{}

func (jsonList) load(row map[string]any) (list []keys.Key, err error) {
	if text, _ := row["Members"].(string); text != "" {
		err = json.Unmarshal([]byte(text), &list)
	}
	return list, err
}

func (l jsonList) edit(row map[string]any, member keys.Key, want bool) (bool, error) {
	list, err := l.load(row)
	if err != nil || slices.Contains(list, member) == want {
		return false, err
	}
	list = slices.DeleteFunc(list, func(k keys.Key) bool { return k == member })
	if want {
		list = append(list, member)
	}
	slices.SortFunc(list, func(a, b keys.Key) int { return keys.Compare(a.Partition+"/"+a.Row, b.Partition+"/"+b.Row) })
	text, err := json.Marshal(list)
	row["Members"] = string(text)
	return true, err
}

func (l jsonList) Add(row map[string]any, m keys.Key) (bool, error) { return l.edit(row, m, true) }

func (l jsonList) Remove(row map[string]any, m keys.Key) (bool, error) { return l.edit(row, m, false) }

func (l jsonList) Len(row map[string]any) (int, error) {
	list, err := l.load(row)
	return len(list), err
}

// The views. The model derives their rows again without them: see implied.
func byEmail() patterns.View[hire] { // local, unique, sparse, full
	return patterns.ViewOf("byEmail", patterns.Shape{}, func(h *hire) ([]patterns.DerivedRow, error) {
		if h.Email == "" {
			return nil, nil
		}
		return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: h.Dept, Row: "email_" + h.Email}, patterns.CopySpec{})}, nil
	})
}

func byBadge(more ...string) patterns.View[hire] { // another partition, unique, slim
	return patterns.ViewOf("byBadge", patterns.Shape{Remote: true}, func(h *hire) ([]patterns.DerivedRow, error) {
		if h.Badge == "" {
			return nil, nil
		}
		return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: "badge", Row: h.Badge},
			patterns.CopySpec{Only: append([]string{"Name", "Badge"}, more...), Unique: true})}, nil
	})
}

func byName(other *aztables.Client) patterns.View[hire] { // another table, not unique
	return patterns.ViewOf("byName", patterns.Shape{Target: patterns.TableTarget("other", other)}, func(h *hire) ([]patterns.DerivedRow, error) {
		return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: "name_" + h.Name, Row: h.Dept + "_" + h.ID}, patterns.CopySpec{})}, nil
	})
}

func lastHere() patterns.View[hire] { // a list in the partition
	return patterns.ViewOf("lastHere", patterns.Shape{Kind: patterns.Members, List: jsonList{}}, func(h *hire) ([]patterns.DerivedRow, error) {
		return []patterns.DerivedRow{patterns.MemberRow(keys.Key{Partition: h.Dept, Row: "last_" + h.Last})}, nil
	})
}

func lastAll(other *aztables.Client) patterns.View[hire] { // a list in another table
	return patterns.ViewOf("lastAll", patterns.Shape{Kind: patterns.Members, List: jsonList{}, Target: patterns.TableTarget("other", other)},
		func(h *hire) ([]patterns.DerivedRow, error) {
			return []patterns.DerivedRow{patterns.MemberRow(keys.Key{Partition: "lastnames", Row: h.Last})}, nil
		})
}

func headOf() patterns.View[hire] { // into an entity of the partition
	return patterns.ViewOf("department", patterns.Shape{Kind: patterns.Merges}, func(h *hire) ([]patterns.DerivedRow, error) {
		m := patterns.MergeSpec{Add: map[string]any{"Count": int32(1)}}
		if h.Head {
			m.Set = map[string]any{"HeadName": h.Name, "HeadAge": h.Age}
		}
		return []patterns.DerivedRow{patterns.MergeRow(keys.Key{Partition: h.Dept, Row: "department"}, m)}, nil
	})
}

func company() patterns.View[hire] { // into an entity of another partition
	return patterns.ViewOf("company", patterns.Shape{Kind: patterns.Merges, Remote: true}, func(h *hire) ([]patterns.DerivedRow, error) {
		m := patterns.MergeSpec{Add: map[string]any{"Count": int64(1), "Years": int64(h.Age)}}
		return []patterns.DerivedRow{patterns.MergeRow(keys.Key{Partition: "company", Row: "all"}, m)}, nil
	})
}

// byLookup has the names of a hire as values.
func byLookup(other *aztables.Client) patterns.View[hire] {
	return secondaryindex.Lookup("byLookup", other, func(h *hire) []string { return []string{"name " + h.Name, "last " + h.Last} },
		&secondaryindex.Options[hire]{Key: func(h *hire) (keys.Key, error) { return h.key(), nil }})
}

func localViews() []patterns.View[hire] {
	return []patterns.View[hire]{byEmail(), lastHere(), headOf()}
}

func allViews(other *aztables.Client) []patterns.View[hire] {
	return append(localViews(), byBadge(), byName(other), lastAll(other), company(), byLookup(other))
}

// unmarked among the names of views means that copies and lists have no marker.
const unmarked = "unmarked"

// someViews returns those of allViews that names contains.
func someViews(other *aztables.Client, names []string) []patterns.View[hire] {
	views := slices.DeleteFunc(allViews(other), func(v patterns.View[hire]) bool { return !slices.Contains(names, v.Name()) })
	for i, v := range views {
		if slices.Contains(names, unmarked) {
			views[i] = withoutMarker(v)
		}
	}
	return views
}

// withoutMarker returns v with rows that have no marker, if its rows may lack it.
func withoutMarker(v patterns.View[hire]) patterns.View[hire] {
	lead := map[string]string{"byEmail": "|email_", "byBadge": "badge|", "byName": "name_", "lastHere": "|last_", "lastAll": "lastnames|"}[v.Name()]
	if lead == "" {
		return v
	}
	if v.Name() == "byBadge" {
		v = byBadge("Dept", "ID")
	}
	engine, _ := v.Engine()
	s := engine.Shape
	s.Plain = true
	s.Owner = func(key keys.Key, row func() map[string]any) (keys.Key, bool) {
		if at := key.Partition + "|" + key.Row; !strings.Contains(at, lead) {
			return keys.Key{}, false
		}
		if s.Kind == patterns.Members {
			return keys.Key{}, true
		}
		p := row()
		dept, _ := p["Dept"].(string)
		id, _ := p["ID"].(string)
		return keys.Key{Partition: dept, Row: "id_" + id}, id != ""
	}
	return patterns.ViewOf(v.Name(), s, func(h *hire) ([]patterns.DerivedRow, error) { return engine.Rows(h) })
}

func newHires(client *aztables.Client, opts patterns.StoreOptions[hire]) (*patterns.Store[hire], error) {
	return openHires(client, false, opts)
}

func openHires(client *aztables.Client, stamped bool, opts patterns.StoreOptions[hire]) (*patterns.Store[hire], error) {
	table, err := patterns.NewTable(client, &patterns.TableOptions[hire]{
		Key: func(h *hire) (keys.Key, error) { return h.key(), nil }, StampWrites: stamped,
	})
	if err != nil {
		return nil, err
	}
	return patterns.NewStore(table, &opts)
}

// fullStore is a Store with all views, with its tables and its queue.
type fullStore struct {
	*patterns.Store[hire]
	client, other *aztables.Client
	queue         *harness.OutboxQueue
}

// newFullStore returns a Store with every view of everyView. onPending may be nil.
func newFullStore(t testing.TB, b *harness.Backend, onPending func(context.Context, keys.Key, error)) fullStore {
	t.Helper()
	e := fullStore{client: b.Table(t), other: b.Table(t), queue: &harness.OutboxQueue{}}
	var err error
	e.Store, err = newHires(e.client, patterns.StoreOptions[hire]{Views: someViews(e.other, everyView), Outbox: e.queue, OnPending: onPending})
	assert.NoError(t, err)
	return e
}
