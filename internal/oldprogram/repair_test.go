package oldprogram

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
)

// TestBackfillAndRepairStoreWhatThePrimariesHave adds views to a table that was written by hand, damages their rows, and repairs them.
func TestBackfillAndRepairStoreWhatThePrimariesHave(t *testing.T) {
	copies := slices.DeleteFunc(slices.Clone(layouts), func(l *layout) bool { return l.byHand || strings.HasPrefix(l.name, "dep") || l.list() })
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		cases(t, b, 20*casesPerPopulation, harness.Sized(2, 4)*casesPerPopulation, func(seed uint64) error {
			if seed%casesPerPopulation != 0 && *onlySeed == 0 {
				return nil
			}
			r := rand.New(rand.NewPCG(seed, 6))
			w := newWorld(t, b)
			p := pick(r, statics...)
			for i := range 12 {
				var row map[string]json.RawMessage
				must(json.Unmarshal(p.rowText(r, keys.Key{Partition: fmt.Sprintf("p%d", i%2), Row: fmt.Sprintf("%06d", i)}, i%3 > 0), &row))
				row["Mail"] = json.RawMessage(fmt.Sprintf(`"m%d"`, i))
				text, err := json.Marshal(row)
				must(err)
				w.put(t, r, text)
			}
			views := slices.Clone(copies)
			r.Shuffle(len(views), func(i, j int) { views[i], views[j] = views[j], views[i] })
			views = views[:2]
			e, err := p.open(t, w, views)
			if err != nil {
				return err
			}
			primaries := w.rows(t, "p")
			want := maps.Clone(primaries)
			for _, l := range views {
				for key, row := range primaries {
					at, implied := l.rows(l, key, row, nil, true)
					want[at] = implied
				}
				if report, err := e.reindex(t.Context(), l.name); err != nil || report.Failed > 0 {
					return fmt.Errorf("%v: backfill of %v: %+v %w", p.new, l, report, err)
				}
			}
			if diff := compare(w.rows(t, "p"), want); diff != "" {
				return fmt.Errorf("%v, after Backfill of %v:\n%s", p.new, views, diff)
			}
			for at, row := range w.rows(t, "p") {
				if _, primary := primaries[at]; primary || r.IntN(2) == 0 {
					continue
				}
				assert.NoError(t, assert.ErrorOf(w.hand.DeleteEntity(t.Context(), at.Partition, at.Row, nil)))
				if r.IntN(2) == 0 {
					row["Group"] = textProperty("planted")
					w.put(t, r, row.json(at))
				}
			}
			if report, err := e.reindex(t.Context(), ""); err != nil || report.Failed > 0 {
				return fmt.Errorf("%v: repair of %v: %+v %w", p.new, views, report, err)
			}
			if diff := compare(w.rows(t, "p"), want); diff != "" {
				return fmt.Errorf("%v, after Repair of %v:\n%s", p.new, views, diff)
			}
			return nil
		})
	})
}
