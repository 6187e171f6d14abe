package patterns

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

// setter is who set which properties of a row, for one view. It is stored as JSON
// in azp_merged, by the view's name.
type setter struct {
	Partition string   `json:"p"`
	Row       string   `json:"r"`
	Names     []string `json:"n"`
}

func setters(row content) (map[string]setter, error) {
	by := map[string]setter{}
	text := row.text(propMerged)
	if text == "" {
		return by, nil
	}
	if err := json.Unmarshal([]byte(text), &by); err != nil {
		return nil, fmt.Errorf("property %s: %w", propMerged, ErrBadReply)
	}
	return by, nil
}

// editSet writes m's properties into row for the primary, or takes out those that it
// has there; nil m wants none. It reports whether that changed anything. What
// another primary has set there for the view is a *takenError if m wants to set
// something, unless that primary is free.
func (l *lens) editSet(row content, primary keys.Key, m *Merged, free *keys.Key) (changed bool, err error) {
	by, err := setters(row)
	if err != nil {
		return false, err
	}
	had, taken := by[l.name]
	holder := keys.Key{Partition: had.Partition, Row: had.Row}
	wants := m != nil && len(m.Set) > 0
	if taken && holder != primary && (free == nil || holder != *free) {
		if wants {
			err = &takenError{owner: holder, known: true, at: row.at}
		}
		return false, err
	}
	if !taken && !wants {
		return false, nil
	}
	before := maps.Clone(row.Properties)
	for _, name := range had.Names {
		delete(row.Properties, name)
	}
	delete(by, l.name)
	if wants {
		now := setter{Partition: primary.Partition, Row: primary.Row}
		for name, v := range m.Set {
			row.Properties[name] = v
			now.Names = append(now.Names, name)
		}
		slices.Sort(now.Names)
		by[l.name] = now
	}
	delete(row.Properties, propMerged)
	if len(by) > 0 {
		text, err := json.Marshal(by)
		if err != nil {
			return false, err
		}
		row.Properties[propMerged] = string(text)
	}
	return !row.Properties.Equal(before), nil
}

// addUp changes the counters of row by what now has more than was; nil counts
// nothing. It reports whether that changed anything.
func addUp(row content, was, now map[string]any) (changed bool, err error) {
	for _, name := range namesOf(was, now) {
		before, _ := amount(was[name])
		after, _ := amount(now[name])
		if before == after {
			if _, there := row.Properties[name]; there || now[name] == nil {
				continue
			}
		}
		kind := now[name]
		if kind == nil {
			kind = was[name]
		}
		if row.Properties[name], err = counted(name, row.Properties[name], after-before, kind); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}

// counted is the counter after a change. It keeps its type; a new one has part's.
func counted(name string, counter any, change int64, part any) (any, error) {
	if counter == nil {
		counter = int64(0)
		if _, small := part.(int32); small {
			counter = int32(0)
		}
	}
	n, ok := amount(counter)
	if !ok {
		return nil, &PropertyError{Property: name, Want: "a counter, Edm.Int32 or Edm.Int64", Got: fmt.Sprintf("%T", counter)}
	}
	sum := n + change
	if _, small := counter.(int32); small {
		if sum < math.MinInt32 || sum > math.MaxInt32 {
			return nil, &PropertyError{Property: name, Want: "a sum within Edm.Int32", Got: "more", Err: ErrTooLarge}
		}
		return int32(sum), nil
	}
	if (sum > n) != (change > 0) && change != 0 {
		return nil, &PropertyError{Property: name, Want: "a sum within Edm.Int64", Got: "more", Err: ErrTooLarge}
	}
	return sum, nil
}

func amount(v any) (int64, bool) {
	switch v := v.(type) {
	case int32:
		return int64(v), true
	case int64:
		return v, true
	}
	return 0, false
}

// isValue reports whether v has one of the types of a property.
func isValue(v any) bool {
	switch v.(type) {
	case string, bool, int32, int64, float64, time.Time, []byte, [16]byte:
		return true
	}
	return false
}

func namesOf(ms ...map[string]any) []string {
	var names []string
	for _, m := range ms {
		for name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (m *Merged) names() []string { return namesOf(m.Set, m.Add) }

func (m *Merged) has(name string) bool {
	_, set := m.Set[name]
	_, add := m.Add[name]
	return set || add
}
