package journal

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Version is the place of a change in the order of those of its entity: the epoch of the partition in which it was committed, and its
// number among the entity's changes in that epoch.
type Version struct{ Epoch, Number int64 }

const (
	versionDigits = 10 // of an epoch and of a number, so that texts are ordered as they are
	maxVersion    = 9_999_999_999

	// MaxEpoch is the greatest epoch.
	MaxEpoch = maxVersion
)

// Last is a version that is greater than all changes of an epoch.
func Last(epoch int64) Version { return Version{epoch, maxVersion} }

// String returns the version as it is stored.
func (v Version) String() string {
	return fmt.Sprintf("%0*d-%0*d", versionDigits, v.Epoch, versionDigits, v.Number)
}

// ParseVersion is the inverse of String.
func ParseVersion(text string) (v Version, ok bool) {
	epoch, number, _ := strings.Cut(text, "-")
	v.Epoch, _ = strconv.ParseInt(epoch, 10, 64)
	v.Number, _ = strconv.ParseInt(number, 10, 64)
	return v, v.Epoch > 0 && v.Number > 0 && v.String() == text
}

// Compare compares v with w.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Epoch, w.Epoch), cmp.Compare(v.Number, w.Number))
}

// next is the version of a change in an epoch that follows v.
func (v Version) next(epoch int64) Version {
	if v.Epoch < epoch {
		return Version{epoch, 1}
	}
	return Version{v.Epoch, v.Number + 1}
}

// Prop is the property of an entity with the version of its last change that was recorded.
const Prop = "azp_journal"

// versionIn returns the version in a row of an entity, zero for none.
func versionIn(r *txn.Record) Version {
	if r == nil || r.Origin == nil {
		return Version{}
	}
	text, _ := r.Origin.Unknown.Text(Prop)
	v, _ := ParseVersion(text)
	return v
}

// The rows of a journal, in the partition of the entities. Their keys and properties are part of the stored format.
const (
	rootRow       = view.ReservedRow + "_feed" // has the epoch of the partition; never deleted
	historyPrefix = view.ReservedRow + "_hist_"

	propEpoch  = "azp_epoch"  // of the root, of type Int64
	propKind   = "azp_kind"   // of a change: its types.Event
	propNames  = "azp_names"  // the names of the properties that changed, separated by commas
	propBefore = "azp_before" // the row of the entity, in parts
	propAfter  = "azp_after"
)

// marker is the key of the marker of an epoch, which exists until the epoch is closed.
func marker(partition string, epoch int64) keys.Key {
	return keys.Key{Partition: partition, Row: fmt.Sprintf("%s_%0*d_!", rootRow, versionDigits, epoch)}
}

// history is the prefix of the row keys of an entity's changes, the newest of which comes first.
func history(row string) string { return historyPrefix + view.Hash(row) + "_" }

// Row is the record of a change.
type Row struct {
	Entity  keys.Key
	Version Version
	Event   types.Event
	Op      string   // of the transaction
	Names   []string // of the properties that changed, if these are recorded

	// The rows of the entity before and after, with all properties, or with those of Names; nil for none.
	Before, After []byte
}

func (r *Row) key() keys.Key {
	inverted := Version{maxVersion - r.Version.Epoch, maxVersion - r.Version.Number}
	return keys.Key{Partition: r.Entity.Partition, Row: history(r.Entity.Row) + inverted.String()}
}

// maxBinary is the size of the largest Binary property.
//
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#property-types
const maxBinary = 64 << 10

// maxText is the length of the longest String property. Names have ASCII characters only, or few others.
const maxText = 32 << 10

// insert returns the operation that stores the row at a key, as one of the named view.
func (r *Row) insert(name string, at keys.Key) *txn.Op {
	p := view.OwnerProperties(r.Entity, name)
	p[Prop], p[propKind], p[view.PropOp] = r.Version.String(), int32(r.Event), r.Op
	if r.Names != nil {
		if names := strings.Join(r.Names, ","); len(names) <= maxText { // the properties themselves are more important
			p[propNames] = names
		} else {
			p[propNames] = ""
		}
	}
	addParts(p, propBefore, r.Before)
	addParts(p, propAfter, r.After)
	return put(wire.Insert, at, p)
}

func addParts(p edm.Properties, name string, row []byte) {
	for i := 0; len(row) > 0; i++ {
		n := min(len(row), maxBinary)
		p[name+strconv.Itoa(i)], row = row[:n], row[n:]
	}
}

func partsOf(p edm.Properties, name string) (row []byte) {
	for i := 0; ; i++ {
		part, ok := p[name+strconv.Itoa(i)].([]byte)
		if !ok {
			return row
		}
		row = append(row, part...)
	}
}

// read returns the change that a row records.
func read(row edm.Content) (r Row, err error) {
	event, _ := row.Properties[propKind].(int32)
	version, ok := ParseVersion(row.Text(Prop))
	r = Row{
		Entity:  keys.Key{Partition: row.Text(view.PropOwnerPK), Row: row.Text(view.PropOwnerRK)},
		Version: version, Event: types.Event(event), Op: row.Text(view.PropOp),
		Before: partsOf(row.Properties, propBefore), After: partsOf(row.Properties, propAfter),
	}
	if names, ok := row.Properties[propNames].(string); ok {
		if r.Names = []string{}; names != "" {
			r.Names = strings.Split(names, ",")
		}
	}
	if !ok || r.Event < types.Inserted || r.Event > types.Expired {
		err = fmt.Errorf("row of a journal: %w", azerr.ErrBadReply)
	}
	return r, err
}

// keepChanges reduces r, whose Before is the row before the change, to the properties that differ in now, the row after it, nil for
// none. Before stays if the entity was deleted. Properties of the library are not counted.
func (r *Row) keepChanges(now []byte) (err error) {
	var rows [2]edm.Properties
	for i, body := range [][]byte{r.Before, now} {
		if body != nil {
			if rows[i], _, err = edm.ReadProperties(body); err != nil {
				return err
			}
		}
		maps.DeleteFunc(rows[i], func(name string, _ any) bool { return edm.IsReserved(name) })
	}
	before, after := rows[0], rows[1]
	differs := edm.Properties{}
	maps.Copy(differs, before)
	maps.Copy(differs, after)
	maps.DeleteFunc(differs, func(name string, _ any) bool {
		v, had := before[name]
		w, has := after[name]
		return had && has && edm.Properties{name: v}.Equal(edm.Properties{name: w})
	})
	if r.Names = append([]string{}, slices.Sorted(maps.Keys(differs))...); now == nil {
		return nil
	}
	maps.DeleteFunc(after, func(name string, _ any) bool { _, changed := differs[name]; return !changed })
	r.Before = nil
	r.After, err = edm.AppendProperties(nil, after, edm.Envelope{PartitionKey: r.Entity.Partition, RowKey: r.Entity.Row})
	return err
}

func put(kind wire.Kind, key keys.Key, p edm.Properties) *txn.Op {
	op := &txn.Op{Kind: kind, Value: &p}
	op.At(key)
	return op
}
