package secondaryindex_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// member has a copy of its Note only, which is usually empty.
type member struct {
	PartitionKey, RowKey string
	Mail, Note           string
}

func memberMail(m *member) (string, bool) { return m.Mail, true }

// A row with properties none of which is compared is no copy, whatever the primary implies.
func TestARowWithNoneOfTheComparedPropertiesIsNotAdopted(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		only := &secondaryindex.Options[member]{Only: []string{"Note"}}
		for at, index := range map[string]*secondaryindex.Index[member]{
			"p/mail_a": secondaryindex.Intra("mail", memberMail, only),
			"mail_p/a": secondaryindex.Inter("mail", nil, memberMail, only),
		} {
			partition, row, _ := strings.Cut(at, "/")
			for _, c := range []struct {
				properties string
				adopted    bool
			}{
				{`,"Precious":"data","Amount":17`, false},
				{`,"Precious":"data","Amount":17,"Note":""`, true},
				{``, true},
			} {
				client := b.Table(t)
				put(t, client, `{"PartitionKey":"p","RowKey":"1","Mail":"a","Note":""}`)
				put(t, client, `{"PartitionKey":"`+partition+`","RowKey":"`+row+`"`+c.properties+`}`)
				before := rowsByHand(t, client)[at]
				store := harness.NewStore(t, client, &patterns.StoreOptions[member]{Views: []patterns.View[member]{index}, Outbox: &harness.OutboxQueue{}})
				_, err := store.Update(t.Context(), keys.Key{Partition: "p", Row: "1"}, func(m *member) error { m.Mail = "b"; return nil })
				assert.NoError(t, err)
				if after, exists := rowsByHand(t, client)[at]; exists == c.adopted || exists && !maps.Equal(after, before) {
					t.Errorf("%s with %q after the value has changed: %v", at, c.properties, after)
				}
			}
		}
	})
}

// A row of a view that was read from the Table is refused like its key.
func TestAnItemOfAViewIsNoEntity(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		index := secondaryindex.Inter("mail", nil, memberMail, nil)
		q := &harness.OutboxQueue{}
		store := harness.NewStore(t, b.Table(t), &patterns.StoreOptions[member]{Views: []patterns.View[member]{index}, Outbox: q})
		assert.Must(store.Insert(ctx, &member{"p", "1", "a", ""}))(t)
		row := harness.Get(t, store.Table(), keys.Key{Partition: "mail_p", Row: "a"})
		b.ResetRequests()
		for name, err := range map[string]error{
			"put":    assert.ErrorOf(store.PutItem(ctx, row, &member{"mail_p", "a", "a", ""})),
			"update": assert.ErrorOf(store.UpdateItem(ctx, row, func(m *member) error { m.Note = "x"; return nil })),
			"delete": store.DeleteItem(ctx, row),
			"batch":  assert.ErrorOf(store.Batch().Add(patterns.DeleteEntity[member](row.Key).Was(row)).Commit(ctx)),
		} {
			assert.WantError(t, err, patterns.ErrBadKey, name)
		}
		b.WantRequestCount(t, 0)
		assert.Equal(t, assert.Must(index.On(store).Get(ctx, "p", "a"))(t).Primary, keys.Key{Partition: "p", Row: "1"})
	})
}
