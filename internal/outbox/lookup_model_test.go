package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// withLookups is every view, and lookups.
var withLookups = append(slices.Clone(everyView), "byLookup")

// checkLookups checks that each lookup row of a primary that lists the view is stored. exact means that
// no other lookup row may be. It is the model, and shares no code with the Store.
func (c *cluster) checkLookups(ctx context.Context, exact bool) error {
	if !slices.Contains(c.views, "byLookup") {
		return nil
	}
	stored, err1 := readTable(ctx, c.other)
	rows, err2 := readTable(ctx, c.own)
	after, err3 := readTable(ctx, c.other) // a transaction between the two adds one row, and removes another afterwards
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	maps.Copy(stored, after)
	named := map[string]bool{}
	for key, p := range rows {
		views, _ := p["azp_views"].(string)
		if !strings.Contains(key, "|id_") || !strings.Contains(views, "byLookup:") {
			continue
		}
		text, _ := p["azp_lookups"].(string)
		h := hireOf(key, p)
		for _, value := range []string{"name " + h.Name, "last " + h.Last} {
			found := false
			for name := range strings.SplitSeq(strings.TrimSuffix(text, ","), ",") {
				_, id, _ := strings.Cut(name, ":")
				row := "byLookup_" + h.Dept + "|" + value + "  id_" + h.ID + " " + id
				if _, ok := stored[row]; ok {
					found, named[row] = true, true
				}
			}
			if !found {
				return fmt.Errorf("no lookup row of %s for %q, which names %s", key, value, text)
			}
		}
	}
	for row, p := range stored {
		if exact && p["azp_view"] == "byLookup" && !named[row] {
			return fmt.Errorf("lookup row %s is superfluous", row)
		}
	}
	return nil
}
