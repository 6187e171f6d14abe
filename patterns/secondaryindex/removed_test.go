package secondaryindex_test

import (
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// TestACopyHasNothingThatOptionsCopyRemoved makes copies of a row that another program has stored, without its secrets.
func TestACopyHasNothingThatOptionsCopyRemoved(t *testing.T) {
	type named struct{ Name string }
	type patient struct {
		PartitionKey, RowKey string
		Mail                 string
		Profile, Doctor      named   `table:",json"`
		Cards                []named `table:",json"`
		Born, Seen           time.Time
		Code                 string `table:",omitempty"`
	}
	const row = `{"PartitionKey":"p","RowKey":"1","Mail":"a","Profile":"{\"Name\":\"Ann\",\"SSN\":\"secret\"}","Doctor":"{\"Name\":\"Bob\",\"Room\":\"12\"}",` +
		`"Cards":"[{\"Name\":\"visa\",\"No\":\"secret\"}]","Born":"2000-01-01T00:00:00+02:00","Seen":"2026-01-01T00:00:00+02:00","Code":""}`
	for name, hide := range map[string]func(p *patient){
		"cleared":  func(p *patient) { p.Profile, p.Cards, p.Born = named{}, nil, time.Time{} },
		"replaced": func(p *patient) { p.Profile, p.Cards, p.Born = named{"A."}, []named{{"card"}}, time.Time{}.UTC() },
		"emptied":  func(p *patient) { p.Profile.Name, p.Cards, p.Born = "", []named{}, time.Time{}.Local() },
	} {
		for _, only := range [][]string{nil, {"Mail", "Profile", "Doctor", "Cards", "Born", "Seen"}} {
			t.Run(name, func(t *testing.T) {
				harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
					client := b.Table(t)
					assert.Must(client.AddEntity(t.Context(), []byte(row), nil))(t)
					v := secondaryindex.Intra("mail", func(p *patient) (string, bool) { return p.Mail, true }, &secondaryindex.Options[patient]{
						Only: only,
						Copy: func(p *patient) patient { copied := *p; hide(&copied); return copied },
					})
					store := harness.NewStore(t, client, &patterns.StoreOptions[patient]{Views: []patterns.View[patient]{v}})
					assert.Must(store.Update(t.Context(), keys.Key{Partition: "p", Row: "1"}, func(p *patient) error { p.Mail = "b"; return nil }))(t)
					copied := string(assert.Must(client.GetEntity(t.Context(), "p", "mail_b", nil))(t).Value)
					if strings.Contains(copied, "secret") || strings.Contains(copied, `"Born"`) {
						t.Errorf("the copy contains what was removed: %s", copied)
					}
					for _, want := range []string{`{\"Name\":\"Bob\",\"Room\":\"12\"}`, `"Seen":"2026-01-01T00:00:00+02:00"`} {
						assert.Contains(t, copied, want, "the copy lacks")
					}
					for f, err := range reindex.Verify(t.Context(), store, "", nil) {
						t.Errorf("%v, %v", f, err)
					}
				})
			})
		}
	}
}
