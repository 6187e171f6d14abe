package secondaryindex_test

import (
	"testing"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// The requests that the package documents, without those to the queue: one to put
// the wake-up, one to delete it.
func TestWritesCostWhatIsDocumented(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		shared := secondaryindex.Options[employee]{NonUnique: true}
		for name, c := range map[string]struct {
			ix                   *secondaryindex.Index[employee]
			insert, move, remove int
		}{
			"intra":         {must(secondaryindex.Intra("email", emailOf)), 1, 2, 2},
			"intra, shared": {must(secondaryindex.Intra("email", emailOf, shared)), 1, 2, 2},
			"inter":         {must(secondaryindex.Inter("email", nil, emailOf)), 5, 9, 7},
			"inter, shared": {must(secondaryindex.Inter("email", nil, emailOf, shared)), 4, 7, 6},
		} {
			store := newStore(t, b.Table(t), &queue{}, c.ix)
			spent := func(do error) int {
				t.Helper()
				if do != nil {
					t.Fatal(name, do)
				}
				defer b.ResetRequests()
				return len(b.Requests())
			}
			b.ResetRequests()
			_, err := store.Insert(t.Context(), jones())
			insert := spent(err)
			_, err = store.Update(t.Context(), jones().key(), func(e *employee) error { e.EmailAddress = "mary@contoso.com"; return nil })
			move := spent(err)
			remove := spent(store.Delete(t.Context(), jones().key()))
			if insert != c.insert || move != c.move || remove != c.remove {
				t.Errorf("%s: insert %d, change of the value %d, delete %d; want %d, %d, %d", name, insert, move, remove, c.insert, c.move, c.remove)
			}
		}
	})
}
