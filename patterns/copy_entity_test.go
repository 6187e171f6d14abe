package patterns_test

import (
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

func TestACopyContainsOnlyAnEntityOfThePrimarysType(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		copied := harness.NewPerson("copied")
		for _, c := range []struct {
			entity any
			want   error
		}{
			{&copied, nil},
			{&struct{ Name string }{"x"}, patterns.ErrBadView},
			{(*harness.Person)(nil), patterns.ErrBadView},
		} {
			v := patterns.ViewOf("v", patterns.Shape{}, func(p *harness.Person) ([]patterns.DerivedRow, error) {
				return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: p.Dept, Row: "v_" + p.Name}, patterns.CopySpec{Entity: c.entity})}, nil
			})
			store := harness.NewStore(t, b.Table(t), &patterns.StoreOptions[harness.Person]{Views: []patterns.View[harness.Person]{v}})
			p := harness.NewPerson("Jones")
			_, err := store.Insert(t.Context(), &p)
			assert.WantError(t, err, c.want)
		}
	})
}
