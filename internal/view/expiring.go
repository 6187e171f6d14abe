package view

import (
	"slices"
	"strconv"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Expiring makes the lookup rows of a view those of entities that expire: the row of an entity is in a
// partition of the bucket of time in which the entity expires, or of an earlier bucket. A change to a later
// time leaves the row where it is. The sweep of package expire moves it when it meets it.
type Expiring struct {
	At     func(entity any) time.Time // a pure function; see [Set.Expires]
	Bucket time.Duration              // the length of a bucket
	Spread int                        // the number of partitions of a bucket
}

// firstTime is the first time that the service can store. An earlier one, such as the zero time, means that an
// entity does not expire.
//
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#property-types
var firstTime = time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC)

// Rows returns the row of an entity for [View].Rows, without its id.
func (x *Expiring) Rows(name string, entity any, primary keys.Key) ([]types.DerivedRow, error) {
	at := x.At(entity)
	if at.Before(firstTime) {
		return nil, nil
	}
	end, err := keys.Ticks(at.Add(x.Bucket - 1).Truncate(x.Bucket)) // no earlier than at
	if err != nil {
		return nil, err
	}
	row := Hash(primary.Partition, primary.Row)
	var part int
	for _, c := range []byte(row) {
		part = (part*31 + int(c)) % x.Spread
	}
	return []types.DerivedRow{{Kind: types.Lookups, Key: keys.Key{Partition: name + "_" + end + "_" + strconv.Itoa(part), Row: row}}}, nil
}

// Ended returns the range of the partitions whose buckets end before a time, in ticks.
func (x *Expiring) Ended(name, before string) keys.Range {
	return keys.Range{From: name + "_", To: name + "_" + before}
}

// Kept reports whether the row is among those of the version that a change replaces, or would be if it was not moved: a change to the
// same or a later time keeps the row and its id.
func (l *Lookup) Kept(old []Lookup) bool {
	return slices.ContainsFunc(old, func(o Lookup) bool {
		return o == *l || l.View.Expiring != nil && o.View == l.View && keys.Compare(o.Key.Partition, l.Key.Partition) <= 0
	})
}

// Expires returns when an entity expires, by the first of its views that is neither building nor retired; ok is
// false if it does not, or if a view panics, which a write reports.
func (s *Set) Expires(entity any) (at time.Time, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	for _, v := range s.Views {
		if v.Expiring == nil || !s.isFull(v.Name) {
			continue
		}
		if t := v.Expiring.At(entity); !t.Before(firstTime) && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	return at, ok
}

// HasExpiring reports whether entities can expire.
func (s *Set) HasExpiring() bool {
	return slices.ContainsFunc(s.Views, func(v *View) bool { return v.Expiring != nil })
}
