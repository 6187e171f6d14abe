package view

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// setter is the primary that has set properties of a row for one view, and their names.
// The setters of a row are stored in azp_merged, as a JSON object by view name.
type setter struct {
	Partition string   `json:"p"`
	Row       string   `json:"r"`
	Names     []string `json:"n"`
}

func settersOf(row edm.Properties) (map[string]setter, error) {
	setters := map[string]setter{}
	text, _ := row[propMerged].(string)
	if text == "" {
		return setters, nil
	}
	if err := json.Unmarshal([]byte(text), &setters); err != nil {
		return nil, fmt.Errorf("property %s: %w", propMerged, azerr.ErrBadReply)
	}
	return setters, nil
}

// editSet replaces the properties that the primary has set in row for the view by
// want.Set, or removes them if want is nil. It reports whether that changed anything. If
// another primary than former has set properties for the view, editSet fails with
// [*OwnedByOther] if want sets some, and otherwise does nothing.
func editSet(row edm.Content, v *View, primary keys.Key, want *types.MergeSpec, former *keys.Key) (changed bool, err error) {
	view := v.Name
	setters, err := settersOf(row.Properties)
	if err != nil {
		return false, err
	}
	stored, taken := setters[view]
	owner := keys.Key{Partition: stored.Partition, Row: stored.Row}
	sets := want != nil && len(want.Set) > 0
	if taken && owner != primary && (former == nil || owner != *former) {
		if sets {
			err = &OwnedByOther{View: view, Owner: owner, Known: true, As: view, At: row.Timestamp}
		}
		return false, err
	}
	if !taken && !sets {
		return false, nil
	}
	before := maps.Clone(row.Properties)
	for _, name := range stored.Names {
		delete(row.Properties, name)
	}
	delete(setters, view)
	if sets {
		own := setter{Partition: primary.Partition, Row: primary.Row}
		for name, value := range want.Set {
			if now, exists := before[name]; exists && v.keeps(name, value, now) {
				value = now
			}
			row.Properties[name] = value
			own.Names = append(own.Names, name)
		}
		slices.Sort(own.Names)
		setters[view] = own
	}
	delete(row.Properties, propMerged)
	if len(setters) > 0 {
		text, err := json.Marshal(setters)
		if err != nil {
			return false, err
		}
		row.Properties[propMerged] = string(text)
	}
	return !row.Properties.Equal(before), nil
}

// mergedNames returns the names of the properties that views have set in a row.
func mergedNames(unknown *edm.Unknown) (names []string) {
	text, _ := unknown.Text(propMerged)
	if text == "" {
		return nil
	}
	setters, err := settersOf(edm.Properties{propMerged: text})
	if err != nil {
		return nil // the row is not written, or Claims fails
	}
	for _, from := range setters {
		names = append(names, from.Names...)
	}
	return names
}

// editCounters changes the counters of row by the difference between two versions of a
// primary's parts. A nil map has no parts. It reports whether that changed anything.
func editCounters(row edm.Content, before, after map[string]any) (changed bool, err error) {
	for _, name := range namesOf(before, after) {
		old, _ := number(before[name])
		new, _ := number(after[name])
		if old == new {
			if _, exists := row.Properties[name]; exists || after[name] == nil {
				continue
			}
		}
		part := after[name]
		if part == nil {
			part = before[name]
		}
		if row.Properties[name], err = addTo(name, row.Properties[name], new-old, part); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}

// addTo returns counter plus change. A counter keeps its type. A counter that is nil, a
// new one, gets the type of part.
func addTo(name string, counter any, change int64, part any) (any, error) {
	if counter == nil {
		counter = int64(0)
		if _, small := part.(int32); small {
			counter = int32(0)
		}
	}
	n, ok := number(counter)
	if !ok {
		return nil, &types.PropertyError{Property: name, Want: "a counter, Edm.Int32 or Edm.Int64", Got: fmt.Sprintf("%T", counter)}
	}
	sum := n + change
	if _, small := counter.(int32); small {
		if sum < math.MinInt32 || sum > math.MaxInt32 {
			return nil, &types.PropertyError{Property: name, Want: "a sum within Edm.Int32", Got: "more", Err: azerr.ErrTooLarge}
		}
		return int32(sum), nil
	}
	if (sum > n) != (change > 0) && change != 0 {
		return nil, &types.PropertyError{Property: name, Want: "a sum within Edm.Int64", Got: "more", Err: azerr.ErrTooLarge}
	}
	return sum, nil
}

// number returns v, a counter or a part of one, as an int64.
func number(v any) (int64, bool) {
	switch v := v.(type) {
	case int32:
		return int64(v), true
	case int64:
		return v, true
	}
	return 0, false
}

// isValue reports whether v is of a type that a property may have.
func isValue(v any) bool {
	switch v.(type) {
	case string, bool, int32, int64, float64, time.Time, []byte, [16]byte:
		return true
	}
	return false
}

// namesOf returns the keys of all maps, sorted, each of them once.
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
