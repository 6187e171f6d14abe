package largeentity_test

import (
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/encryption"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
)

// Properties of the row can be encrypted, those that may be in a blob cannot.
func TestLargeEntitiesEncryptPropertiesOfTheirRows(t *testing.T) {
	type scan struct {
		PartitionKey, RowKey string
		Email                string `table:",encrypted"`
		Image                []byte `table:",blob"`
	}
	const email = "ada-canary@example.com"
	open := func(b *harness.Backend, ids ...string) *largeentity.Options[scan] {
		all := map[string][]byte{}
		for _, id := range ids {
			all[id] = []byte(strings.Repeat(id, 32)[:32])
		}
		return &largeentity.Options[scan]{Threshold: largeentity.Always, Encryption: &patterns.Encryption{Keys: assert.Must(encryption.RingOf(ids[0], all))(t), Table: "scans"}}
	}
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client, blobs := t.Context(), b.Table(t), b.Container(t)
		table := assert.Must(largeentity.New(client, blobs, open(b, "k1")))(t)
		assert.Must(table.Insert(ctx, &scan{"p", "r", email, []byte("image")}))(t)
		at := keys.Key{Partition: "p", Row: "r"}
		row := string(assert.Must(client.GetEntity(ctx, "p", "r", nil))(t).Value)
		assert.Equal(t, strings.Contains(row, email), false)
		assert.Must(table.Update(ctx, at, func(s *scan) error { s.Image = []byte("other"); return nil }))(t)
		later := assert.Must(largeentity.New(client, blobs, open(b, "k2", "k1")))(t)
		assert.Equal(t, assert.Must(later.Table().Reencrypt(ctx, nil))(t).Done, 1)
		item := assert.Must(assert.Must(largeentity.New(client, blobs, open(b, "k2")))(t).Get(ctx, at))(t)
		assert.Equal(t, item.Value.Email+string(item.Value.Image), email+"other")

		_, err := largeentity.New[scan](client, blobs, nil)
		assert.WantError(t, err, patterns.ErrNoKey)
		type both struct {
			PartitionKey, RowKey string
			Image                []byte `table:",blob,encrypted"`
		}
		_, err = largeentity.New(client, blobs, &largeentity.Options[both]{Encryption: open(b, "k1").Encryption})
		assert.Failed(t, err)
	})
}
