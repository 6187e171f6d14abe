package patterns

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"

	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// A counter's row is in another partition than the primaries it counts, so it cannot
// change in their transactions. Beside it stands a mark for each primary that it
// has counted, with the part counted; mark and counter change in one transaction, so
// that the counter is the sum of the marks at every moment, however often or late a
// drain comes. A counter that is not in its row, because it is new or because somebody
// has deleted it, starts from the sum of the marks.
const (
	markPrefix = reservedRow + "_count_"
	propRow    = "azp_row"   // on a mark: the row key of the counter's row
	propParts  = "azp_parts" // on a mark: the part of each counter, as JSON
)

// markKey is the key of the primary's mark: "~azp_count_", the view, and hashes of
// the counter's row key and of the primary's key, so that it fits into a key.
func markKey(c *Claim) keys.Key {
	return keys.Key{Partition: c.Key.Partition, Row: markPrefix + c.View + "_" + hash(c.Key.Row) + "_" + hash(c.Owner.Partition, c.Owner.Row)}
}

// hash is 20 characters for a list of texts.
func hash(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:15])
}

// mergeWrites is what a merge writes into a row of another partition or table.
func (c *Claim) mergeWrites(l *lens, found reading, free *keys.Key) ([]*wire.Write, error) {
	row, err := found.row.content()
	if err != nil {
		return nil, err
	}
	counted, err := parts(found.mark)
	if err != nil {
		return nil, err
	}
	var want *Merged
	if c.Wanted {
		want = &c.merge
	}
	if found.row.absent() && (want == nil || want.Existing) {
		if want == nil && !found.mark.absent() {
			w := away(markKey(c), found.mark.etag)
			return []*wire.Write{&w}, nil
		}
		return nil, nil
	}
	set, err := l.editSet(row, c.Owner, want, free)
	if err != nil {
		return nil, err
	}
	var add map[string]any
	if want != nil {
		add = want.Add
	}
	again, err := found.restore(row, counted, add)
	if err != nil {
		return nil, err
	}
	sums, err := addUp(row, counted, add)
	if err != nil {
		return nil, err
	}
	var writes []*wire.Write
	if set || again || sums {
		w, err := row.over(c.Key, found.row)
		if err != nil {
			return nil, err
		}
		writes = append(writes, &w)
	}
	return c.appendMark(writes, found.mark, counted, add)
}

// appendMark adds the write that makes the mark say what is counted now.
func (c *Claim) appendMark(writes []*wire.Write, mark standing, counted, add map[string]any) ([]*wire.Write, error) {
	key := markKey(c)
	switch {
	case len(add) == 0 && mark.absent():
		return writes, nil
	case len(add) == 0:
		w := away(key, mark.etag)
		return append(writes, &w), nil
	case !mark.absent() && sameParts(counted, add):
		return writes, nil
	}
	text, err := json.Marshal(add)
	if err != nil {
		return nil, err
	}
	p := ownerProperties(c.Owner, c.View)
	p[propRow], p[propParts] = c.Key.Row, string(text)
	w, err := content{Properties: p}.over(key, mark)
	return append(writes, &w), err
}

// parts is what a mark says.
func parts(mark standing) (map[string]any, error) {
	row, err := mark.content()
	if err != nil || mark.absent() {
		return nil, err
	}
	numbers, err := partsOf(row.text(propParts))
	if err != nil {
		return nil, err
	}
	parts := make(map[string]any, len(numbers))
	for name, n := range numbers {
		parts[name] = n
	}
	return parts, nil
}

func sameParts(a, b map[string]any) bool {
	for _, name := range namesOf(a, b) {
		x, inA := amount(a[name])
		y, inB := amount(b[name])
		if inA != inB || x != y {
			return false
		}
	}
	return true
}
