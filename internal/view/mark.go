package view

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// The row of a remote counter is not in the partition of the primaries that it counts,
// so it cannot change in their transactions. Its own partition also contains a mark for
// each primary that was counted, with the part that was counted. Mark and counter change
// in one transaction. So the counter is the sum of the marks at all times, no matter how
// often or how late a claim is carried out. A counter that is missing in its row,
// because it is new or was deleted, is computed from the marks.
//
// A mark changes only on condition that the counter's row is unchanged. If there is no
// row, or if the counter is computed from the marks, the condition is on the sum row
// instead, which the transaction changes as well. Nothing deletes the sum row, so even the
// transaction that creates everything cannot be carried out twice.
const (
	markPrefix = ReservedRow + "_count_"
	sumPrefix  = ReservedRow + "_sum_"
	propRow    = "azp_row"   // of a mark or sum row: the row key of the counter's row
	propParts  = "azp_parts" // of a mark: the part of each counter, as JSON
)

// MarkKey is the key of the owner's mark.
func (c *Claim) MarkKey() keys.Key {
	return keys.Key{Partition: c.Key.Partition, Row: c.markRowPrefix() + Hash(c.Owner.Partition, c.Owner.Row)}
}

// markRowPrefix is the prefix of the row keys of all marks of the view for the claim's
// row. It contains a hash of the row key, and each mark a hash of the primary's key,
// because the two keys may together be longer than a key may be.
func (c *Claim) markRowPrefix() string {
	return markPrefix + c.View.Name + "_" + Hash(c.Key.Row) + "_"
}

// sumKey is the key of the sum row of the view for the claim's row.
func (c *Claim) sumKey() keys.Key {
	return keys.Key{Partition: c.Key.Partition, Row: sumPrefix + c.View.Name + "_" + Hash(c.Key.Row)}
}

// HashSize is the length of a Hash.
const HashSize = 20

// Hash returns 20 characters for a list of texts.
func Hash(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:15])
}

// mergeWrites returns the writes of a claim of kind Merges: that of the row, that of the
// mark and that of the sum row, as far as they are necessary.
func (c *Claim) mergeWrites(found Found, former *keys.Key) ([]*wire.Write, error) {
	row, err := found.Row.Content()
	if err != nil {
		return nil, err
	}
	counted, err := partsIn(found.Mark)
	if err != nil {
		return nil, err
	}
	if found.Row.Absent() {
		if !c.Wanted && !found.Mark.Absent() {
			w := txn.Delete(c.MarkKey(), found.Mark.ETag)
			return c.appendSum([]*wire.Write{&w}, found.Sum)
		}
		if !c.Wanted || c.Merge.Existing {
			return nil, nil
		}
		row.Properties[PropState] = statePart
	}
	var want *types.MergeSpec
	var parts map[string]any
	if c.Wanted {
		want, parts = &c.Merge, c.Merge.Add
	}
	set, err := editSet(row, c.View, c.Owner, want, former)
	if err != nil {
		return nil, err
	}
	restored, err := found.restoreCounters(row, counted, parts)
	if err != nil {
		return nil, err
	}
	added, err := editCounters(row, counted, parts)
	if err != nil {
		return nil, err
	}
	mark, marked, err := c.markWrite(found.Mark, counted, parts, restored)
	if err != nil || !set && !restored && !added && !marked {
		return nil, err
	}
	w, err := txn.OverWith(c.Key, found.Row, row)
	if err != nil {
		return nil, err
	}
	writes := []*wire.Write{&w}
	if marked {
		writes = append(writes, &mark)
	}
	if restored {
		return c.appendSum(writes, found.Sum)
	}
	return writes, nil
}

// markWrite returns the write that makes the mark contain parts. counted is what the mark
// contains now. needed is false if that is the same, unless confirm is set: then the mark
// is written in any case, on condition that it is unchanged.
func (c *Claim) markWrite(mark txn.Row, counted, parts map[string]any, confirm bool) (w wire.Write, needed bool, err error) {
	switch {
	case len(parts) == 0:
		return txn.Delete(c.MarkKey(), mark.ETag), !mark.Absent(), nil
	case !mark.Absent() && sameParts(counted, parts) && !confirm:
		return w, false, nil
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return w, false, err
	}
	p := OwnerProperties(c.Owner, c.View.Name)
	p[propRow], p[propParts] = c.Key.Row, string(text)
	w, err = txn.OverWith(c.MarkKey(), mark, edm.Content{Properties: p})
	return w, true, err
}

// appendSum appends the write of the sum row, which was read as found.
func (c *Claim) appendSum(writes []*wire.Write, found txn.Row) ([]*wire.Write, error) {
	w, err := txn.OverWith(c.sumKey(), found, edm.Content{Properties: edm.Properties{PropView: c.View.Name, propRow: c.Key.Row}})
	return append(writes, &w), err
}

// partsIn returns the parts in a mark, nil if there is no mark.
func partsIn(mark txn.Row) (map[string]any, error) {
	row, err := mark.Content()
	if err != nil || mark.Absent() {
		return nil, err
	}
	numbers, err := parseParts(row.Text(propParts))
	if err != nil {
		return nil, err
	}
	parts := make(map[string]any, len(numbers))
	for name, n := range numbers {
		parts[name] = n
	}
	return parts, nil
}

// parseParts parses the value of azp_parts.
func parseParts(text string) (map[string]int64, error) {
	var numbers map[string]int64
	if err := json.Unmarshal([]byte(text), &numbers); err != nil {
		return nil, fmt.Errorf("property %s: %w", propParts, azerr.ErrBadReply)
	}
	return numbers, nil
}

func sameParts(a, b map[string]any) bool {
	for _, name := range namesOf(a, b) {
		x, inA := number(a[name])
		y, inB := number(b[name])
		if inA != inB || x != y {
			return false
		}
	}
	return true
}

// sumOthers stores in found the sums of the parts of all primaries but the owner, and the
// sum row, if a counter that the claim concerns is missing in the row. Otherwise it makes
// no request.
//
// The sum row is read before the marks, and the marks never change without the sum row
// while the counter is missing. So the sums are right if the row and the sum row are still
// unchanged when they are written. A missing row is read again after the sum row: otherwise
// it could have been created before, and be deleted after a change of the marks.
func (t *RemoteTable) sumOthers(ctx context.Context, c *Claim, found *Found) error {
	missing, err := c.lacksCounter(*found)
	if err != nil || !missing {
		return err
	}
	if found.Sum.Absent() {
		if found.Sum, err = txn.ReadRow(ctx, t.Client, c.sumKey()); err != nil {
			return err
		}
		if found.Row.Absent() {
			if row, err := txn.ReadRow(ctx, t.Client, c.Key); err != nil || !row.Absent() {
				return cmp.Or(err, ErrRaced)
			}
		}
	}
	own := c.MarkKey()
	sums := map[string]int64{}
	found.others = sums
	return txn.ReadRange(ctx, t.Client, own.Partition, keys.Prefix(c.markRowPrefix()), propParts, func(mark keys.Key, row edm.Properties) error {
		if mark.Row == own.Row {
			return nil
		}
		text, _ := row[propParts].(string)
		numbers, err := parseParts(text)
		for name, n := range numbers {
			sums[name] += n
		}
		return err
	})
}

// lacksCounter reports whether the row lacks a counter that the claim is about to change.
func (c *Claim) lacksCounter(found Found) (bool, error) {
	if found.Row.Absent() && (!c.Wanted || c.Merge.Existing) {
		return false, nil
	}
	row, err := found.Row.Content()
	if err != nil {
		return false, err
	}
	counted, err := partsIn(found.Mark)
	if err != nil {
		return false, err
	}
	for _, name := range namesOf(counted, c.Merge.Add) {
		if _, exists := row.Properties[name]; !exists {
			return true, nil
		}
	}
	return false, nil
}

// restoreCounters adds the counters that are missing to row, with the values that they
// had if they had not been deleted. counted is what the owner's mark contains. It reports
// whether that changed anything.
func (f *Found) restoreCounters(row edm.Content, counted, parts map[string]any) (changed bool, err error) {
	for _, name := range namesOf(counted, parts) {
		if _, exists := row.Properties[name]; exists {
			continue
		}
		part := parts[name]
		if part == nil {
			part = counted[name]
		}
		own, _ := number(counted[name])
		if row.Properties[name], err = addTo(name, nil, f.others[name]+own, part); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}
