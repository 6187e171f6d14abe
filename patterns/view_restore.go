package patterns

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/query"
)

// markRow is what is read of a mark to add it up.
type markRow struct {
	Parts string `table:"azp_parts,reserved"`
}

// countOthers adds up the parts of all primaries but the claim's, where a counter
// that the claim concerns is not in the row; else it makes no request. The marks are
// read after the row, and change with the row only, so that the sum holds if the row
// is found unchanged. Only a mark whose primary goes is deleted alone where there is no
// row: who counts at that moment counts it in.
func (t *tableTarget) countOthers(ctx context.Context, c *Claim, found reading) (map[string]int64, error) {
	if missing, err := c.uncounted(found); err != nil || !missing {
		return nil, err
	}
	codec, err := edm.CodecFor(reflect.TypeFor[markRow]())
	if err != nil {
		return nil, err
	}
	own := markKey(c)
	all := query.And(query.PartitionKey.Eq(own.Partition), query.RowKey.Prefix(markPrefix+c.View+"_"+hash(c.Key.Row)+"_"))
	r := &rows[markRow]{wire: t.wire, codec: codec, schema: schemaOf(codec)}
	sums := map[string]int64{}
	for mark, err := range r.query(ctx, all, nil) {
		if err != nil {
			return nil, err
		}
		if mark.Key == own {
			continue
		}
		numbers, err := partsOf(mark.Value.Parts)
		if err != nil {
			return nil, err
		}
		for name, n := range numbers {
			sums[name] += n
		}
	}
	return sums, nil
}

// uncounted reports whether a counter is missing that the claim is about to change.
func (c *Claim) uncounted(found reading) (bool, error) {
	if found.row.absent() && (!c.Wanted || c.merge.Existing) {
		return false, nil
	}
	row, err := found.row.content()
	if err != nil {
		return false, err
	}
	counted, err := parts(found.mark)
	if err != nil {
		return false, err
	}
	for _, name := range namesOf(counted, c.merge.Add) {
		if _, there := row.Properties[name]; !there {
			return true, nil
		}
	}
	return false, nil
}

// restore puts the counters that are missing into row, as they would be if they had
// never been away; had is what the primary's mark says. It reports whether that changed
// anything.
func (r *reading) restore(row content, had, add map[string]any) (changed bool, err error) {
	for _, name := range namesOf(had, add) {
		if _, there := row.Properties[name]; there {
			continue
		}
		part := add[name]
		if part == nil {
			part = had[name]
		}
		own, _ := amount(had[name])
		if row.Properties[name], err = counted(name, nil, r.others[name]+own, part); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}

// partsOf reads the text of a mark.
func partsOf(text string) (map[string]int64, error) {
	var numbers map[string]int64
	if err := json.Unmarshal([]byte(text), &numbers); err != nil {
		return nil, fmt.Errorf("property %s: %w", propParts, ErrBadReply)
	}
	return numbers, nil
}
