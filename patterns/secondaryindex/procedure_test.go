package secondaryindex_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// readmeRow returns the cells of the row of README.md's table of the two procedures.
func readmeRow(t *testing.T, first string) []string {
	t.Helper()
	text := string(assert.Must(os.ReadFile(filepath.Join("..", "..", "README.md")))(t))
	_, table, ok := strings.Cut(text, "| the old program maintains the index | it does not |\n")
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, " | "); ok && strings.HasPrefix(cells[0], "| "+first) {
			return cells[1:]
		}
	}
	t.Fatalf("README.md has no row %q", first)
	return nil
}

// adopted verifies that a store without building views has all rows, after Backfill, which finds
// nothing to correct if the old program maintained the index.
func adopted(t *testing.T, store *patterns.Store[person]) reindex.Report {
	t.Helper()
	report := assert.Must(reindex.Backfill(t.Context(), store, "email", "", nil))(t)
	if left := assert.All(t, reindex.Verify(t.Context(), store, "", nil)); len(left) > 0 {
		t.Errorf("Verify: %+v", left)
	}
	if states := assert.Must(store.ViewStates(t.Context()))(t); len(states) != 1 || states[0].State != patterns.ViewReady {
		t.Errorf("%+v", states)
	}
	return report
}

// The procedures of README.md for an index while an old program goes on writing.
func TestAnIndexThatTheOldProgramMaintainsIsNotBuilding(t *testing.T) {
	if cells := readmeRow(t, "`StoreOptions.Building`"); !strings.HasPrefix(cells[0], "without the view") || !strings.HasPrefix(cells[1], "with the view") {
		t.Errorf("README.md: %q", cells)
	}
	figures := map[bool]func(testing.TB, ...string) *secondaryindex.Index[person]{false: figure07, true: figure10}
	for inter, figure := range figures {
		for _, building := range []bool{false, true} {
			t.Run(fmt.Sprintf("inter %t, building %t", inter, building), func(t *testing.T) {
				harness.Run(t, func(t *testing.T, b *harness.Backend) {
					client, opts := b.Table(t), &patterns.StoreOptions[person]{Outbox: &harness.OutboxQueue{}}
					index := figure(t)
					if opts.Views = []patterns.View[person]{index}; building {
						opts.Building = []string{"email"}
					}
					store, byHand := harness.NewStore(t, client, opts), &program{t: t, client: client, inter: inter}
					chance := rand.New(rand.NewPCG(7, 0))
					emails, stale := map[string]string{}, 0
					for i := range 40 {
						id, email := fmt.Sprint(chance.IntN(4)), fmt.Sprint("e", i)
						if _, exists := emails[id]; exists && chance.IntN(2) == 0 {
							_, err := store.Update(t.Context(), byHand.key(id), func(p *person) error { p.EmailAddress = email; return nil })
							assert.NoError(t, err)
						} else {
							for _, step := range byHand.change(id, email, i, func() {}) {
								step()
							}
						}
						emails[id] = email
						for id, email := range emails {
							_, _, at := byHand.rows(id, email, 0)
							if row, _ := byHand.read(at); row == nil || row["EmployeeId"] != id {
								stale++
							}
						}
					}
					assert.Equal(t, building, stale > 0, stale, "reads of the index by hand were wrong")
					if !building {
						if report := adopted(t, store); report.Orphan+report.Missing+report.Wrong > 0 {
							t.Errorf("%+v", report)
						}
					}
				})
			})
		}
	}
}

func TestAnIndexThatTheOldProgramDoesNotMaintainIsBuilding(t *testing.T) {
	for _, inter := range []bool{false, true} {
		for _, building := range []bool{true, false} {
			t.Run(fmt.Sprintf("inter %t, building %t", inter, building), func(t *testing.T) {
				harness.Run(t, func(t *testing.T, b *harness.Backend) {
					client, queue := b.Table(t), &harness.OutboxQueue{}
					index := secondaryindex.Intra("email", personEmail, nil)
					if inter {
						index = secondaryindex.Inter("email", nil, personEmail, nil)
					}
					open := func(building []string) *patterns.Store[person] {
						return harness.NewStore(t, client, &patterns.StoreOptions[person]{Views: []patterns.View[person]{index}, Outbox: queue, Building: building})
					}
					names := map[bool][]string{true: {"email"}}
					store, byHand := open(names[building]), &program{t: t, client: client}
					chance := rand.New(rand.NewPCG(7, 0))
					known := map[string]bool{}
					for i := range 40 {
						id, email := fmt.Sprint(chance.IntN(4)), fmt.Sprint("e", i)
						if known[id] && chance.IntN(2) == 0 {
							_, err := store.Update(t.Context(), byHand.key(id), func(p *person) error { p.EmailAddress = email; return nil })
							assert.NoError(t, err)
						} else {
							primary, _, _ := byHand.rows(id, email, i)
							put(t, client, string(primary))
						}
						known[id] = true
					}
					obsolete := len(rowsByHand(t, client)) - len(known)
					assert.Equal(t, building, obsolete == 0, obsolete, "rows of the index while the old program writes")
					if building {
						if report := adopted(t, open(nil)); report.Filled != len(known) {
							t.Errorf("%+v", report)
						}
					}
				})
			})
		}
	}
}
