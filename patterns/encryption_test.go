package patterns_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/encryption"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"github.com/azpatterns/azpatterns/query"
)

// patient is an entity with encrypted properties.
type patient struct {
	PartitionKey, RowKey string
	Ward                 string
	Email                string `table:",encrypted"`
	Notes                struct {
		Text string
	} `table:",json,encrypted,omitempty"`
}

const aPatient = "ada-canary@example.com"

var rowKey1 = keys.Key{Partition: "p", Row: "r"}

func ringOf(t testing.TB, ids ...string) patterns.EncryptionKeys {
	all := map[string][]byte{}
	for _, id := range ids {
		all[id] = []byte((id + strings.Repeat("canary-key", 4))[:32])
	}
	return assert.Must(encryption.RingOf(ids[0], all))(t)
}

func patients(t testing.TB, client *aztables.Client, ids ...string) *patterns.Table[patient] {
	return harness.NewTable(t, client, &patterns.TableOptions[patient]{Encryption: &patterns.Encryption{Keys: ringOf(t, ids...), Table: "patients"}})
}

func TestATypeWithEncryptedFieldsNeedsKeysAndATable(t *testing.T) {
	client := assert.Must(aztables.NewServiceClientWithNoCredential("https://account.example", nil))(t).NewClient("patients")
	_, err := patterns.NewTable[patient](client, nil)
	_, decoded := patterns.DecodeJSON[patient](nil)
	_, encoded := patterns.EncodeJSON(patterns.Item[patient]{})
	_, asPatient := patterns.Decode[patient](patterns.Item[patterns.Row]{})
	_, wide := wideentity.New[patient](client, nil)
	registered := entitytype.Register(assert.Must(entitytype.NewRegistry(nil))(t), "Patient", 1, func(p patient) (any, error) { return p, nil })
	for _, err := range []error{err, decoded, encoded, asPatient, wide, registered} {
		assert.WantError(t, err, patterns.ErrNoKey)
	}
	for _, e := range []*patterns.Encryption{{}, {Keys: ringOf(t, "k")}, {Table: "patients"}} {
		_, err := patterns.NewTable(client, &patterns.TableOptions[patient]{Encryption: e})
		assert.WantError(t, err, patterns.ErrBadOption)
	}
}

// Without a name the table has its own one, in lower case, which an accelerated client knows before its first request.
func TestTheLogicalNameIsByDefaultThatOfTheTable(t *testing.T) {
	account := storagetest.Start(nil)
	accelerated := account.TablesWith(harness.Accelerated()).NewClient("Patients")
	unnamed := func(client *aztables.Client) (*patterns.Table[patient], error) {
		return patterns.NewTable(client, &patterns.TableOptions[patient]{Encryption: &patterns.Encryption{Keys: ringOf(t, "k1")}})
	}
	table := assert.Must(unnamed(accelerated))(t)
	_, err := unnamed(account.Tables().NewClient("Patients"))
	assert.WantError(t, err, patterns.ErrBadOption)
	assert.Equal(t, len(account.Log()), 0, "requests")
	assert.NoError(t, table.Create(t.Context()))
	assert.Must(table.Insert(t.Context(), &patient{PartitionKey: "p", RowKey: "r", Email: aPatient}))(t)
	named := patients(t, account.Tables().NewClient("pATIENTS"), "k1")
	assert.Equal(t, assert.Must(named.Get(t.Context(), rowKey1))(t).Value.Email, aPatient)
	again := assert.Must(unnamed(account.TablesWith(harness.Accelerated()).NewClient("PATIENTS")))(t)
	assert.Equal(t, assert.Must(again.Get(t.Context(), rowKey1))(t).Value.Email, aPatient)
	other := account.TablesWith(harness.Accelerated()).NewClient("others")
	_, err = other.CreateTable(t.Context(), nil)
	assert.NoError(t, err)
	assert.NoError(t, eventual.Move(t.Context(), accelerated, other, eventual.Row{PartitionKey: "p", RowKey: "r"}))
	_, err = assert.Must(unnamed(other))(t).Get(t.Context(), rowKey1)
	assert.WantError(t, err, patterns.ErrSealed)
}

// The stored row shows nothing of the value; other programs keep it; a new key takes over with the writes.
func TestAnEncryptedPropertyIsReadWhereItWasWritten(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := patients(t, client, "k1")
		_, err := table.Upsert(t.Context(), &patient{PartitionKey: "p", RowKey: "r", Ward: "1", Email: aPatient}, patterns.Replace)
		assert.NoError(t, err)
		assert.Must(table.Insert(t.Context(), &patient{PartitionKey: "p", RowKey: "s", Ward: "1", Email: aPatient}))(t)
		before := content(t, client, rowKey1)
		for name, value := range before {
			assert.Equal(t, strings.Contains(value, aPatient), false, name)
		}
		assert.Equal(t, before["Email"] == content(t, client, keys.Key{Partition: "p", Row: "s"})["Email"], false, "equal values in two rows")

		// A program without the keys.
		rows := harness.NewTable[patterns.Row](t, client, nil)
		row := assert.Must(rows.Get(t.Context(), rowKey1))(t)
		assert.Must(rows.Replace(t.Context(), row))(t)
		wantOnly(t, before, content(t, client, rowKey1))

		item := assert.Must(table.Get(t.Context(), rowKey1))(t)
		assert.Equal(t, item.Value.Email, aPatient)
		item.Value.Ward = "2"
		assert.Must(table.Replace(t.Context(), item))(t)
		wantOnly(t, before, content(t, client, rowKey1), "Ward")

		type part struct {
			Email string `table:",encrypted"`
		}
		reader := assert.Must(patterns.Project[part](table))(t)
		for _, item := range assert.All(t, reader.Query(t.Context(), query.PartitionKey.Eq("p"), nil)) {
			assert.Equal(t, item.Value.Email, aPatient)
		}
		_, err = patterns.Project[struct{ Email []byte }](table)
		assert.Failed(t, err)

		b.ResetRequests()
		for _, f := range []query.Filter{query.Prop("Email").Eq(aPatient), query.And(query.PartitionKey.Eq("p"), query.Prop("Email").Eq([]byte{1}))} {
			err := assert.Failure(t, table.Query(t.Context(), f, &patterns.QueryOptions{Allow: query.TableScan}))
			assert.Contains(t, err.Error(), "encrypted")
			assert.WantHidden(t, err, aPatient)
		}
		b.WantRequests(t, nil)

		second := patients(t, client, "k2", "k1")
		assert.Must(second.Merge(t.Context(), assert.Must(second.Get(t.Context(), rowKey1))(t)))(t)
		_, err = table.Get(t.Context(), rowKey1)
		assert.WantError(t, err, patterns.ErrNoKey)
		assert.WantHidden(t, err, aPatient, "canary")
		assert.Equal(t, assert.Must(patients(t, client, "k2").Get(t.Context(), rowKey1))(t).Value.Email, aPatient)
	})
}

// No span of an operation, also of one that fails, has a value, a key of the row or a key of the ring.
func TestSpansOfEncryptedRowsContainNoValue(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	note := func(what ...any) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprint(what...))
	}
	provider := tracing.NewProvider(func(_, _ string) tracing.Tracer {
		return tracing.NewTracer(func(ctx context.Context, name string, o *tracing.SpanOptions) (context.Context, tracing.Span) {
			note(name, o)
			return ctx, tracing.NewSpan(tracing.SpanImpl{
				SetStatus:     func(_ tracing.SpanStatus, text string) { note(text) },
				SetAttributes: func(all ...tracing.Attribute) { note(all) },
				AddEvent:      func(name string, all ...tracing.Attribute) { note(name, all) },
			})
		}, nil)
	}, nil)
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		for _, ids := range [][]string{{"canary1"}, {"canary2", "canary1"}, {"canary3"}} {
			table := harness.NewTable(t, client, &patterns.TableOptions[patient]{Tracing: provider, Encryption: &patterns.Encryption{Keys: ringOf(t, ids...), Table: "patients"}})
			_, _ = table.Insert(ctx, &patient{PartitionKey: "canary-p", RowKey: "r", Email: aPatient})
			_, _ = table.Get(ctx, keys.Key{Partition: "canary-p", Row: "r"})
			_, _ = table.Update(ctx, keys.Key{Partition: "canary-p", Row: "r"}, func(p *patient) error { p.Ward += "1"; return nil })
			_, _ = table.Reencrypt(ctx, nil)
		}
	})
	assert.Equal(t, len(seen) > 12, true, "spans")
	for _, text := range seen {
		assert.Equal(t, strings.Contains(text, "canary"), false, text)
	}
}

// A program that copies a row, its properties and all, copies nothing that opens.
func TestARowThatAnotherProgramCopiedDoesNotOpen(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := patients(t, client, "k1")
		assert.Must(table.Insert(t.Context(), &patient{PartitionKey: "p", RowKey: "r", Email: aPatient}))(t)
		row := string(assert.Must(client.GetEntity(t.Context(), "p", "r", nil))(t).Value)
		row = strings.Replace(row, `"RowKey":"r"`, `"RowKey":"s"`, 1)
		assert.Must(client.AddEntity(t.Context(), []byte(row), nil))(t)
		_, err := table.Get(t.Context(), keys.Key{Partition: "p", Row: "s"})
		assert.WantError(t, err, patterns.ErrSealed)
		assert.WantHidden(t, err, aPatient, "canary")
	})
}

// A row in another table with the same key opens if the table has the same logical name, and only then.
func TestAMovedRowOpensUnderTheLogicalNameOfItsTable(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		from, to := b.Table(t), b.Table(t)
		assert.Must(patients(t, from, "k1").Insert(t.Context(), &patient{PartitionKey: "p", RowKey: "r", Email: aPatient}))(t)
		assert.NoError(t, eventual.Move(t.Context(), from, to, eventual.Row{PartitionKey: "p", RowKey: "r"}))
		assert.Equal(t, assert.Must(patients(t, to, "k1").Get(t.Context(), rowKey1))(t).Value.Email, aPatient)
		archive := harness.NewTable(t, to, &patterns.TableOptions[patient]{Encryption: &patterns.Encryption{Keys: ringOf(t, "k1"), Table: "archive"}})
		_, err := archive.Get(t.Context(), rowKey1)
		assert.WantError(t, err, patterns.ErrSealed)
	})
}

// While the secret of an index changes, programs of both versions write, and readers that query both indexes find every entity. Backfill
// completes the new index with the rows that existed.
func TestReadersFindEntitiesWhileTheSecretOfABlindIndexChanges(t *testing.T) {
	blind := func(secret string, p *patient) string {
		return assert.Must(keys.Blind([]byte(secret), p.Email, 0))(t)
	}
	indexOf := func(name, secret string) *secondaryindex.Index[patient] {
		return secondaryindex.Intra(name, func(p *patient) (string, bool) { return blind(secret, p), true }, &secondaryindex.Options[patient]{NonUnique: true})
	}
	const oldSecret, newSecret = "the secret of before", "the secret of afterwards"
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		one, two := indexOf("email", oldSecret), indexOf("email2", newSecret)
		open := func(building []string, views ...patterns.View[patient]) *patterns.Store[patient] {
			return assert.Must(patterns.NewStore(patients(t, client, "k1"), &patterns.StoreOptions[patient]{Views: views, Building: building}))(t)
		}
		before, building, after := open(nil, one), open([]string{"email2"}, one, two), open(nil, one, two)
		find := func() string {
			found, wanted := map[string]bool{}, &patient{Email: aPatient}
			for index, secret := range map[*secondaryindex.Index[patient]]string{one: oldSecret, two: newSecret} {
				for _, entry := range assert.All(t, index.On(after).Query(ctx, "p", secondaryindex.Equal(blind(secret, wanted)), nil)) {
					found[entry.Value.RowKey] = entry.Value.Email == aPatient
				}
			}
			return strings.Join(slices.Sorted(maps.Keys(found)), "")
		}
		insert := func(store *patterns.Store[patient], row string) {
			assert.Must(store.Insert(ctx, &patient{PartitionKey: "p", RowKey: row, Email: aPatient}))(t)
		}
		insert(before, "a")
		insert(building, "b")
		insert(before, "c")
		assert.Equal(t, find(), "abc")
		insert(after, "d")
		insert(building, "e")
		assert.Equal(t, find(), "abcde")
		report := assert.Must(reindex.Backfill(ctx, after, "email2", "", nil))(t)
		assert.Equal(t, report.Failed, 0)
		assert.Equal(t, len(assert.All(t, two.On(after).Query(ctx, "p", secondaryindex.Equal(blind(newSecret, &patient{Email: aPatient})), nil))), 5)
		assert.Equal(t, find(), "abcde")
		assert.Equal(t, len(assert.All(t, reindex.Verify(ctx, after, "", nil))), 0, "findings")
	})
}

// Copies are encrypted for their own rows, an unchanged one is not written, Verify compares contents, also after a change of
// the key, and a blind index finds entities by an encrypted value.
func TestAnEncryptedValueIsFoundByABlindIndex(t *testing.T) {
	secret := []byte("a secret of the index")
	blind := func(p *patient) (string, bool) {
		text, err := keys.Blind(secret, p.Email, 0)
		return text, err == nil
	}
	find := assert.Must(keys.Blind(secret, aPatient, 0))(t)
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for kind, index := range map[string]*secondaryindex.Index[patient]{
			"intra": secondaryindex.Intra("email", blind, nil),
			"inter": secondaryindex.Inter("email", b.Table(t), blind, nil),
		} {
			client := b.Table(t)
			storeOf := func(ids ...string) *patterns.Store[patient] {
				return assert.Must(patterns.NewStore(patients(t, client, ids...), &patterns.StoreOptions[patient]{
					Views: []patterns.View[patient]{index}, Outbox: &harness.OutboxQueue{},
				}))(t)
			}
			store := storeOf("k1")
			assert.Must(patients(t, client, "k1").Insert(t.Context(), &patient{PartitionKey: "p", RowKey: "r", Ward: "1", Email: aPatient}))(t)
			for range assert.All(t, reindex.Verify(t.Context(), store, "", &reindex.Options{})) {
			}
			assert.NoError(t, store.Repair(t.Context(), rowKey1)) // the index of a row that existed before
			entry := assert.Must(index.On(store).Get(t.Context(), "p", find))(t)
			assert.Equal(t, entry.Value.Email, aPatient, kind)
			later := storeOf("k2", "k1")
			assert.Equal(t, len(assert.All(t, reindex.Verify(t.Context(), later, "", nil))), 0, kind, "findings")
			assert.Must(later.Update(t.Context(), rowKey1, func(p *patient) error { p.Ward, p.Notes.Text = "2", "x"; return nil }))(t)
			assert.Equal(t, len(assert.All(t, reindex.Verify(t.Context(), later, "", nil))), 0, kind, "findings after an update")
			entry = assert.Must(index.On(later).Get(t.Context(), "p", find))(t)
			assert.Equal(t, entry.Value.Email+entry.Value.Notes.Text, aPatient+"x", kind)
		}
	})
}
