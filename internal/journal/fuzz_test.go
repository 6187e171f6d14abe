package journal

import (
	"testing"

	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
)

// A row that another program has changed is read or refused.
func FuzzRow(f *testing.F) {
	f.Add("~azp_feed_0000000001_~", `{"PartitionKey":"p","RowKey":"r","azp_journal":"0000000001-0000000002","azp_kind":2,"azp_pk":"p","azp_rk":"1","azp_names":"A,B","azp_after0":"e30=","azp_after0@odata.type":"Edm.Binary"}`)
	f.Add("~azp_feed_00_", `{"azp_journal":"1-2","azp_kind":9}`)
	f.Fuzz(func(t *testing.T, row, body string) {
		if epoch, err := epochIn(keys.Key{Row: row}); err == nil && epoch < 1 {
			t.Errorf("epoch %d", epoch)
		}
		stored := txn.Row{Body: []byte(body)}
		content, err := stored.Content()
		if err != nil {
			return
		}
		r, err := read(content)
		if err != nil {
			return
		}
		if again, ok := ParseVersion(r.Version.String()); !ok || again != r.Version {
			t.Errorf("version %v is read as %v", r.Version, again)
		}
	})
}
