package search_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/search"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	expiring "github.com/azpatterns/azpatterns/patterns/expiry"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// thing is an entity with a value for each kind of view.
type thing struct {
	ID    string
	Badge string // unique, elsewhere
	Email string // unique, in the partition
	Place string // merged into another row of the partition
	Name  string // of a copy elsewhere, which is not unique
	Group string // of a list elsewhere
	Tag   string // of a lookup row elsewhere
	Ends  int32  // when it expires, in hours after the beginning; 0 means never
	Label string // the content of a copy elsewhere
	N     int32  // differs between all versions that a case writes
}

const home = "home" // the partition of all things

func (t *thing) key() keys.Key { return thingKey(t.ID) }

func thingKey(id string) keys.Key { return keys.Key{Partition: home, Row: "id_" + id} }

func rowOf(partition, row string) keys.Key { return keys.Key{Partition: partition, Row: row} }

// The views, by name. The model derives their rows again without them: see implied.
var views = map[string]patterns.View[thing]{
	"badge": patterns.ViewOf("badge", patterns.Shape{Remote: true}, func(t *thing) ([]patterns.DerivedRow, error) {
		if t.Badge == "" {
			return nil, nil
		}
		return []patterns.DerivedRow{patterns.CopyRow(rowOf("badge", t.Badge), patterns.CopySpec{Only: []string{"N"}, Unique: true})}, nil
	}),
	"email": patterns.ViewOf("email", patterns.Shape{}, func(t *thing) ([]patterns.DerivedRow, error) {
		if t.Email == "" {
			return nil, nil
		}
		return []patterns.DerivedRow{patterns.CopyRow(rowOf(home, "email_"+t.Email), patterns.CopySpec{Only: []string{"N"}})}, nil
	}),
	"place": patterns.ViewOf("place", patterns.Shape{Kind: patterns.Merges}, func(t *thing) ([]patterns.DerivedRow, error) {
		if t.Place == "" {
			return nil, nil
		}
		return []patterns.DerivedRow{patterns.MergeRow(rowOf(home, "place_"+t.ID), patterns.MergeSpec{Set: map[string]any{"Place": t.Place}})}, nil
	}),
	"name": patterns.ViewOf("name", patterns.Shape{Remote: true}, func(t *thing) ([]patterns.DerivedRow, error) {
		if t.Name == "" {
			return nil, nil
		}
		return []patterns.DerivedRow{patterns.CopyRow(rowOf("name_"+t.Name, t.ID), patterns.CopySpec{Only: []string{"N"}})}, nil
	}),
	"label": patterns.ViewOf("label", patterns.Shape{Remote: true}, func(t *thing) ([]patterns.DerivedRow, error) {
		if t.Label == "" {
			return nil, nil
		}
		return []patterns.DerivedRow{patterns.CopyRow(rowOf("label", t.ID), patterns.CopySpec{Only: []string{"Label"}})}, nil
	}),
	"group": patterns.ViewOf("group", patterns.Shape{Remote: true, Kind: patterns.Members, List: textList{}}, func(t *thing) ([]patterns.DerivedRow, error) {
		if t.Group == "" {
			return nil, nil
		}
		return []patterns.DerivedRow{patterns.MemberRow(rowOf("group", t.Group))}, nil
	}),
	"total": patterns.ViewOf("total", patterns.Shape{Remote: true, Kind: patterns.Merges}, func(t *thing) ([]patterns.DerivedRow, error) {
		return []patterns.DerivedRow{patterns.MergeRow(rowOf("total", "all"), patterns.MergeSpec{Add: map[string]any{"Sum": int64(t.N)}})}, nil
	}),
}

func init() { views["tag"], views["ends"], views["history"] = tags, ends, recorded }

// recorded is a variable of its own, because its reader needs it.
var recorded = journal.Of("history", &journal.Options[thing]{Content: journal.BeforeAndAfter, Keep: expiry})

// ends is a variable of its own, because its sweeper needs it.
var ends = expiring.At("ends", nil, func(t *thing) time.Time {
	if t.Ends == 0 {
		return time.Time{}
	}
	return hour(t.Ends)
}, &expiring.Options[thing]{Bucket: time.Hour, Spread: 1, Key: func(t *thing) (keys.Key, error) { return t.key(), nil }})

// hour is the time so many hours after the beginning of a run.
func hour(n int32) time.Time {
	return time.Date(2000, 1, 1, int(n), 0, 0, 0, time.UTC)
}

// tags is a variable of its own, because its reader needs it.
var tags = secondaryindex.Lookup("tag", nil, func(t *thing) []string {
	if t.Tag == "" {
		return nil
	}
	if t.ID == "9" { // a reader must not return it twice
		return []string{t.Tag, t.Tag + "+"}
	}
	return []string{t.Tag}
}, &secondaryindex.Options[thing]{
	Key:       func(t *thing) (keys.Key, error) { return t.key(), nil },
	Partition: func(string, string) string { return "tag" },
})

// textList is a list of row keys, separated by spaces.
type textList struct{}

func members(row map[string]any) []string {
	text, _ := row["Members"].(string)
	return strings.Fields(text)
}

func (textList) edit(row map[string]any, m keys.Key, want bool) (bool, error) {
	list := members(row)
	if slices.Contains(list, m.Row) == want {
		return false, nil
	}
	list = slices.DeleteFunc(list, func(k string) bool { return k == m.Row })
	if want {
		list = append(list, m.Row)
	}
	slices.Sort(list)
	row["Members"] = strings.Join(list, " ")
	return true, nil
}

func (l textList) Add(row map[string]any, m keys.Key) (bool, error)    { return l.edit(row, m, true) }
func (l textList) Remove(row map[string]any, m keys.Key) (bool, error) { return l.edit(row, m, false) }
func (textList) Len(row map[string]any) (int, error)                   { return len(members(row)), nil }

// contents are the rows of a table, without those that the service or the Store need for themselves.
type contents struct {
	things             []thing
	derived            map[string]string // the properties as JSON, by "partition|row"
	lookups            map[string]bool   // the row keys of lookup rows
	ends               map[string]string // the ends of the buckets of the rows of ends, by their ids
	expires            map[string]string // when the thing expires that names an id of ends
	named              map[string]bool   // those that things name, or have to
	marks              int               // of counters
	records            []string          // outbox rows, as text
	pending            bool              // one of them is of an operation that is not completed
	changes, delivered map[string]bool   // of entities, with a feed
	missed             int64             // the epoch before which the feed has missed changes
}

func readContents(rows []search.Row) contents {
	c := contents{derived: map[string]string{}, lookups: map[string]bool{}, named: map[string]bool{}, ends: map[string]string{}, expires: map[string]string{}, changes: map[string]bool{}, delivered: map[string]bool{}}
	for _, r := range rows {
		partition, row := r.Text("PartitionKey"), r.Text("RowKey")
		text, _ := json.Marshal(r) // sorted by name
		switch {
		case c.note(r):
		case strings.HasPrefix(row, "id_"):
			var t thing
			_ = json.Unmarshal(text, &t) // has the fields of thing
			c.things = append(c.things, t)
			if t.Ends != 0 {
				_, id, _ := strings.Cut(strings.TrimSuffix(r.Text("azp_lookups"), ","), ":")
				c.expires[id], _ = keys.Ticks(hour(t.Ends))
			}
			if t.Tag != "" {
				_, id, _ := strings.Cut(strings.TrimSuffix(r.Text("azp_lookups"), ","), ":")
				id, _, _ = strings.Cut(id, ",") // both have the same
				c.named[t.Tag+"  home_"+row+" "+id] = true
				if t.ID == "9" {
					c.named[t.Tag+"+  home_"+row+" "+id] = true
				}
			}
		case strings.HasPrefix(row, "~azp_outbox_"):
			c.records = append(c.records, string(text))
			c.pending = c.pending || r.Text("azp_state") == "pending"
		case strings.HasPrefix(row, "~azp_count_"):
			c.marks++
		case strings.HasPrefix(partition, "ends_"):
			_, id, _ := strings.Cut(row, " ")
			if end := strings.Split(partition, "_")[1]; c.ends[id] == "" || end < c.ends[id] { // a sweep may be moving it
				c.ends[id] = end
			}
		case strings.HasPrefix(row, "place_"):
			if place := r.Text("Place"); place != "" { // the row stays without it
				c.derived[partition+"|"+row] = place
			}
		case partition == "tag":
			c.lookups[row] = true
		case strings.HasPrefix(row, "~azp_"), partition == "total" && r.Text("Sum") == "0":
		default:
			delete(r, "PartitionKey")
			delete(r, "RowKey")
			text, _ := json.Marshal(r)
			c.derived[partition+"|"+row] = string(text)
		}
	}
	return c
}

// implied returns the rows that things imply, with the views of the given names.
func implied(things []thing, names []string) map[string]string {
	rows := map[string]string{}
	on := func(view string) bool { return slices.Contains(names, view) }
	groups, sum := map[string][]string{}, 0
	for _, t := range things {
		owned := func(view string) string {
			return fmt.Sprintf(`{"N":%d,"azp_pk":"home","azp_rk":"id_%s","azp_view":%q}`, t.N, t.ID, view)
		}
		if on("badge") && t.Badge != "" {
			rows["badge|"+t.Badge] = owned("badge")
		}
		if on("email") && t.Email != "" {
			rows[home+"|email_"+t.Email] = owned("email")
		}
		if on("place") && t.Place != "" {
			rows[home+"|place_"+t.ID] = t.Place
		}
		if on("name") && t.Name != "" {
			rows["name_"+t.Name+"|"+t.ID] = owned("name")
		}
		if on("label") && t.Label != "" {
			rows["label|"+t.ID] = fmt.Sprintf(`{"Label":%q,"azp_pk":"home","azp_rk":"id_%s","azp_view":"label"}`, t.Label, t.ID)
		}
		if on("group") && t.Group != "" {
			groups[t.Group] = append(groups[t.Group], "id_"+t.ID)
		}
		sum += int(t.N)
	}
	for group, all := range groups {
		slices.Sort(all)
		rows["group|"+group] = fmt.Sprintf(`{"Members":%q,"azp_view":"group"}`, strings.Join(all, " "))
	}
	if on("total") && len(things) > 0 {
		rows["total|all"] = fmt.Sprintf(`{"Sum":"%d","azp_state":"part"}`, sum)
	}
	return rows
}

// The promises of the outbox that a case checks.
var (
	errNotUnique    = errors.New("two entities have the same unique value")
	errNotReserved  = errors.New("an entity has a unique value without its row")
	errLookup       = errors.New("a lookup row is missing")
	errSuperfluous  = errors.New("a lookup row is left that no entity names")
	errReader       = errors.New("a reader of lookups was wrong")
	errLocal        = errors.New("a row of the partition is not as its entity implies")
	errDerived      = errors.New("a derived row is not as the entities imply")
	errReserved     = errors.New("a row stays reserved although a message names its operation, or is not readable")
	errPending      = errors.New("an operation stays incomplete")
	errLeft         = errors.New("something of an operation is left")
	errMarks        = errors.New("the marks of a counter are not those of the entities")
	errNotDelivered = errors.New("the queue does not become empty")
	errUntrue       = errors.New("the results of operations have no order")
	errUnexpected   = errors.New("an operation failed that must not")
	errExpired      = errors.New("an entity that has expired is found, or stays")
	errHistory      = errors.New("the history of an entity is not what happened")
	errVerify       = errors.New("a correct table has findings of Verify")
)

// checkAlways checks what must hold after each change.
func checkAlways(c contents, names []string) error {
	for _, value := range []func(t *thing) string{func(t *thing) string { return t.Badge }, func(t *thing) string { return t.Email }} {
		seen := map[string]bool{"": true}
		for i := range c.things {
			v := value(&c.things[i])
			if v != "" && seen[v] {
				return fmt.Errorf("%w: %s", errNotUnique, v)
			}
			seen[v] = true
		}
	}
	if slices.Contains(names, "badge") {
		for i := range c.things {
			row := "badge|" + c.things[i].Badge
			if text, ok := c.derived[row]; c.things[i].Badge != "" && (!ok || !strings.Contains(text, `"azp_rk":"id_`+c.things[i].ID+`"`)) {
				return fmt.Errorf("%w: %s of thing %s is %q", errNotReserved, row, c.things[i].ID, text)
			}
		}
	}
	if slices.Contains(names, "tag") {
		for row := range c.named {
			if !c.lookups[row] {
				return fmt.Errorf("%w: %s, of %v", errLookup, row, slices.Sorted(maps.Keys(c.lookups)))
			}
		}
	}
	for id, at := range c.expires {
		if end := c.ends[id]; end == "" || end > at {
			return fmt.Errorf("%w: %s in bucket %q, of an entity that expires at %s", errLookup, id, end, at)
		}
	}
	if slices.Contains(names, "fed") {
		if err := c.checkOrder(false); err != nil {
			return err
		}
	}
	local := slices.DeleteFunc(slices.Clone(names), func(view string) bool { return view != "email" && view != "place" })
	at := func(rows map[string]string) map[string]string {
		rows = maps.Clone(rows)
		maps.DeleteFunc(rows, func(key, _ string) bool { return !strings.HasPrefix(key, home) })
		return rows
	}
	return compare(errLocal, at(c.derived), at(implied(c.things, local)))
}

// compare returns the first difference, as an err.
func compare(err error, have, want map[string]string) error {
	all := maps.Clone(have)
	maps.Copy(all, want)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if have[key] != want[key] {
			return fmt.Errorf("%w: %s is %s, want %s", err, key, cmp.Or(have[key], "missing"), cmp.Or(want[key], "none"))
		}
	}
	return nil
}
