package patterns_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"github.com/azpatterns/azpatterns/query"
)

const (
	// bait is a blob in the container of the program, but not below its prefix.
	bait = "invoices/4711.json"
	// otherPlace is the name of a table and of a container that the program does not use.
	otherPlace = "elsewhere"
)

// badNames are names of blobs that no program can have stored.
var badNames = []string{
	"", "/", "..", "../" + otherPlace + "/" + bait, "photos/../" + bait, "/" + bait, `photos\..\` + bait, "photos//" + bait,
	"photos/\x1b[2J", "photos/\u009b2J", "photos/.", strings.Repeat("x", 1025), strings.Repeat("x/", 300) + "x",
}

// badKeys are parts of keys that the service cannot store.
var badKeys = []string{"a/b", `a\b`, "a#b", "a?b", "\x1b[2J", "a\u0085b", strings.Repeat("x", 1025), "\xff"}

// trap is a storage account with things that stored names try to reach.
type trap struct {
	*storagetest.Account
	box    *container.Client
	tables *aztables.ServiceClient
}

func newTrap(t *testing.T) *trap {
	a := storagetest.New(t)
	tr := &trap{a, a.Container("box"), a.Tables()}
	for _, c := range []*container.Client{tr.box, a.Container(otherPlace)} {
		assert.Must(c.Create(t.Context(), nil))(t)
		assert.Must(c.NewBlockBlobClient(bait).UploadBuffer(t.Context(), []byte("{}"), nil))(t)
	}
	for _, name := range []string{"people", otherPlace} {
		assert.Must(tr.tables.NewClient(name).CreateTable(t.Context(), nil))(t)
		tr.row(t, name, map[string]any{"PartitionKey": "bait", "RowKey": "bait"})
	}
	return tr
}

// row stores a row as any client can.
func (tr *trap) row(t *testing.T, table string, properties map[string]any) {
	t.Helper()
	text := assert.Must(json.Marshal(properties))(t)
	assert.Must(tr.tables.NewClient(table).UpsertEntity(t.Context(), text, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}))(t)
}

// check fails unless do returns one of the errors, allocates little, and neither sends a request to
// the other places or for the bait, nor deletes anything.
func (tr *trap) check(t *testing.T, name string, do func(ctx context.Context) error, want ...error) (requests int) {
	t.Helper()
	tr.ResetLog()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := do(t.Context())
	runtime.ReadMemStats(&after)
	if !slices.ContainsFunc(want, func(w error) bool { return w == nil && err == nil || w != nil && errors.Is(err, w) }) {
		t.Errorf("%s: %v, want %v", name, err, want)
	}
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 32 {
		t.Errorf("%s: %d MiB were allocated", name, took)
	}
	log := tr.Log()
	for _, q := range log {
		if strings.HasPrefix(q.Resource, otherPlace) || strings.Contains(q.Resource, "1970") || strings.Contains(q.Name, bait) || strings.Contains(string(q.Op), "Delete") {
			t.Errorf("%s: %v", name, q)
		}
	}
	for _, c := range []string{"box", otherPlace} {
		assert.Must(tr.Container(c).NewBlobClient(bait).GetProperties(t.Context(), nil))(t)
	}
	for _, table := range []string{"people", otherPlace} {
		assert.Must(tr.tables.NewClient(table).GetEntity(t.Context(), "bait", "bait", nil))(t)
	}
	return len(log)
}

// portrait is an entity with a field in a blob.
type portrait struct {
	PartitionKey, RowKey string
	Photo                []byte `table:",blob"`
}

// citizen is an entity with views.
type citizen struct {
	PartitionKey, RowKey string
	Name                 string
}

// Everything that is stored, and names another place, is fed names that lead elsewhere. The state files of
// tablectl have a test of their own in its package, which cannot be imported.
func TestStoredNamesLeadNowhereElse(t *testing.T) {
	const uuid = "0b4f6d1e-8a35-4c8e-9f0d-2b8f3f1f9a77"
	zeros := strings.Repeat("0", 64)
	reference := func(container, name string, length int64) string {
		return string(assert.Must(json.Marshal(map[string]any{"version": 1, "blobs": map[string]any{
			"Photo": map[string]any{"container": container, "name": name, "length": length, "sha256": zeros}}}))(t))
	}
	at := keys.Key{Partition: "p", Row: "r"}
	message := func(blob string) patterns.OutboxMessage {
		return patterns.OutboxMessage{Partition: "p", Row: "r", ID: "2020-01-01T00:00:00Z_" + uuid,
			Reserved: []patterns.RowRef{{View: "blob", Partition: "box", Row: blob}}}
	}

	t.Run("references of large entities", func(t *testing.T) {
		tr := newTrap(t)
		queue := new(harness.OutboxQueue)
		large := assert.Must(largeentity.New(tr.tables.NewClient("people"), tr.box, &largeentity.Options[portrait]{Prefix: "photos/", Outbox: queue}))(t)
		put := func(refs string) {
			tr.row(t, "people", map[string]any{"PartitionKey": "p", "RowKey": "r", "azp_blobs": refs})
		}
		get := func(ctx context.Context) error { _, err := large.Get(ctx, at); return err }
		for _, name := range badNames {
			put(reference("box", name, 2))
			tr.check(t, fmt.Sprintf("get %q", name), get, largeentity.ErrCorrupt)
			tr.check(t, fmt.Sprintf("sweep %q", name), func(ctx context.Context) error { _, err := large.Sweep(ctx, nil); return err }, largeentity.ErrCorrupt, nil)
			tr.check(t, fmt.Sprintf("message %q", name), func(ctx context.Context) error { _, err := large.Handle(ctx, message(name)); return err }, eventual.ErrBadMessage)
		}
		put(reference(otherPlace, bait, 2))
		tr.check(t, "another container", get, largeentity.ErrWrongContainer)
		put(reference("box", "photos/people/"+uuid, 1<<62))
		tr.check(t, "2 to the 62 bytes", get, largeentity.ErrCorrupt)
		for _, name := range []string{bait, "photos/other/" + uuid, "photos/people/" + strings.ToUpper(uuid), "photos/people/x"} {
			tr.check(t, "message "+name, func(ctx context.Context) error { _, err := large.Handle(ctx, message(name)); return err }, eventual.ErrBadMessage)
			put(reference("box", name, 2))
			queue.Clear()
			assert.NoError(t, large.Delete(t.Context(), at, ""))
			if queue.Len() != 0 {
				t.Errorf("an outbox message names %v", queue.Message(0))
			}
		}
		for _, key := range badKeys {
			m := message("photos/people/" + uuid)
			m.Partition = key
			tr.check(t, fmt.Sprintf("message of %q", key), func(ctx context.Context) error { _, err := large.Handle(ctx, m); return err }, eventual.ErrBadMessage)
		}
		m := message("photos/people/" + uuid)
		m.ID = "2999-01-01T00:00:00Z_" + uuid
		tr.check(t, "a message of the future", func(ctx context.Context) error { _, err := large.Handle(ctx, m); return err }, eventual.ErrBadMessage)
	})

	t.Run("addresses of large entities", func(t *testing.T) {
		tr := newTrap(t)
		type entity struct {
			PartitionKey, RowKey string
			Content              []byte `table:",blob"`
		}
		queue := new(harness.OutboxQueue)
		large := assert.Must(largeentity.New(tr.tables.NewClient("people"), tr.box, &largeentity.Options[entity]{
			Prefix: "photos/", Outbox: queue, Addresses: map[string]string{"Content": "Photo"}}))(t)
		base, _, _ := strings.Cut(tr.box.URL(), "?")
		for name, address := range map[string]string{
			"another host": "https://evil.example/box/photos/x", "another container": strings.TrimSuffix(base, "box") + otherPlace + "/" + bait,
			"the parent": base + "/photos/../../" + otherPlace + "/" + bait, "no address": "\x1b[2J", "a snapshot": base + "/photos/x?snapshot=1",
		} {
			tr.row(t, "people", map[string]any{"PartitionKey": "p", "RowKey": "r", "Photo": address})
			tr.check(t, name, func(ctx context.Context) error { _, err := large.Get(ctx, at); return err }, largeentity.ErrWrongContainer)
		}
		for _, address := range []string{base + "/" + bait, "https://evil.example/box/" + bait} {
			tr.row(t, "people", map[string]any{"PartitionKey": "p", "RowKey": "r", "Photo": address})
			queue.Clear()
			assert.NoError(t, large.Delete(t.Context(), at, ""))
			if queue.Len() != 0 {
				t.Errorf("an outbox message names %v", queue.Message(0))
			}
		}
		tr.check(t, "message", func(ctx context.Context) error { _, err := large.Handle(ctx, message(bait)); return err }, eventual.ErrBadMessage)
	})

	t.Run("lists in blobs", func(t *testing.T) {
		tr := newTrap(t)
		index := indexentity.InterBlob("names", tr.box, func(c *citizen) (string, bool) { return c.Name, true }, nil)
		store := harness.NewStore(t, tr.tables.NewClient("people"), &patterns.StoreOptions[citizen]{Views: []patterns.View[citizen]{index}, Outbox: new(harness.OutboxQueue)})
		reader := index.On(store)
		get := func(ctx context.Context) error { _, err := reader.Get(ctx, "", "Ann"); return err }
		members := []string{"no separator", "p/a/b", "/p/r", "p/r/", "https://evil.example/people"}
		for _, key := range badKeys[:len(badKeys)-1] { // JSON cannot contain the last one
			members = append(members, "p/"+key, key+"/r")
		}
		for _, member := range members {
			list := assert.Must(json.Marshal([]string{member}))(t)
			assert.Must(tr.box.NewBlockBlobClient("names/Ann.json").UploadBuffer(t.Context(), list, nil))(t)
			tr.check(t, fmt.Sprintf("get %q", member), get, patterns.ErrBadReply)
		}
		assert.Must(tr.box.NewBlockBlobClient("names/Ann.json").UploadBuffer(t.Context(), make([]byte, 40<<20), nil))(t)
		tr.check(t, "40 MiB", get, patterns.ErrTooLarge)
	})

	t.Run("heads of wide entities", func(t *testing.T) {
		tr := newTrap(t)
		type wide struct{ PartitionKey, RowKey, A, B string }
		table := assert.Must(wideentity.New[wide](tr.tables.NewClient("people"), nil))(t)
		assert.Must(table.Insert(t.Context(), &wide{at.Partition, at.Row, "a", "b"}))(t)
		head := map[string]any{}
		stored := assert.Must(tr.tables.NewClient("people").GetEntity(t.Context(), "p", "r_00", nil))(t)
		assert.NoError(t, json.Unmarshal(stored.Value, &head))
		for property, values := range map[string][]string{
			"azp_parts":  {"01:../x", "99:0000000000000", "-1:0000000000000", "01:0000000000000:../../x", strings.Repeat("01;", 10000), "01:000000000000\x1b"},
			"azp_splits": {"A:2000000000", "A:-2", ":5", "A:99999999999999999999"},
			"azp_layout": {"hash:2000000000", "hash:-1", "hash:0", "../x"},
		} {
			for _, value := range values {
				row := maps.Clone(head)
				row[property] = value
				maps.DeleteFunc(row, func(name string, _ any) bool { return strings.HasPrefix(name, "odata") || name == "Timestamp" })
				tr.row(t, "people", row)
				merge := func(ctx context.Context) error {
					_, err := table.Merge(ctx, wideentity.Item[wide]{Key: at, ETag: azcore.ETagAny, Value: wide{A: "x", B: "y"}}, "A", "B")
					return err
				}
				tr.check(t, fmt.Sprintf("%s=%.30q", property, value), merge, patterns.ErrBadReply, wideentity.ErrParts)
			}
		}
	})

	t.Run("outbox messages and rows", func(t *testing.T) {
		tr := newTrap(t)
		badges := tr.tables.NewClient("badges")
		assert.Must(badges.CreateTable(t.Context(), nil))(t)
		index := secondaryindex.Inter("names", badges, func(c *citizen) (string, bool) { return c.Name, true }, nil)
		store := harness.NewStore(t, tr.tables.NewClient("people"), &patterns.StoreOptions[citizen]{Views: []patterns.View[citizen]{index}, Outbox: new(harness.OutboxQueue)})
		handle := func(m patterns.OutboxMessage) func(context.Context) error {
			return func(ctx context.Context) error { _, err := store.Handle(ctx, m); return err }
		}
		ref := patterns.RowRef{View: "names", Partition: "names_", Row: "x"}
		valid := patterns.OutboxMessage{Partition: "p", Row: "r", ID: "OP", Reserved: []patterns.RowRef{ref}}
		for _, key := range badKeys {
			for i, change := range []func(*patterns.OutboxMessage){
				func(m *patterns.OutboxMessage) { m.Partition = key },
				func(m *patterns.OutboxMessage) { m.Row = key },
				func(m *patterns.OutboxMessage) { m.ID = key },
				func(m *patterns.OutboxMessage) {
					m.Reserved = []patterns.RowRef{{View: "names", Partition: key, Row: "x"}}
				},
				func(m *patterns.OutboxMessage) {
					m.Reserved = []patterns.RowRef{{View: "names", Partition: "x", Row: key}}
				},
				func(m *patterns.OutboxMessage) { m.Others = []patterns.OutboxMessage{{ID: key}} },
			} {
				m := valid
				change(&m)
				if n := tr.check(t, fmt.Sprintf("message %d with %q", i, key), handle(m), eventual.ErrBadMessage); n != 0 {
					t.Errorf("%d requests", n)
				}
			}
		}
		m := valid
		m.Others = make([]patterns.OutboxMessage, 100)
		tr.check(t, "a hundred operations more", handle(m), eventual.ErrBadMessage)
		for what, places := range map[string]string{
			"a bad key": `[{"v":"names","p":"../elsewhere","r":"x"}]`, "no list": `{}`, "no JSON": "\x1b[2J",
		} {
			tr.row(t, "people", map[string]any{"PartitionKey": "p", "RowKey": "~azp_outbox_OP", "azp_outbox": 1, "azp_state": "pending", "azp_rk": "r", "azp_rows": places})
			tr.check(t, "outbox row: "+what, handle(valid), patterns.ErrBadReply)
		}
		// A message that names rows of others changes none of them.
		tr.row(t, "badges", map[string]any{"PartitionKey": "bait", "RowKey": "bait", "azp_pk": "someone", "azp_rk": "else", "azp_view": "names"})
		m = patterns.OutboxMessage{Partition: "p", Row: "none", ID: "OTHER", Reserved: []patterns.RowRef{{View: "names", Partition: "bait", Row: "bait"}}}
		tr.check(t, "a row of another primary", handle(m), nil)
		assert.Must(badges.GetEntity(t.Context(), "bait", "bait", nil))(t)
	})

	t.Run("directories of shards", func(t *testing.T) {
		tr := newTrap(t)
		accounts := []shards.Account{{Name: "a", Tables: tr.tables, Table: "people"}}
		assert.NoError(t, assert.Must(shards.New(accounts, "people", nil))(t).Create(t.Context()))
		for text, want := range map[string]error{
			`{"Lease":1000000000,"Idle":1000000000,"Config":{"Accounts":[{"Name":"` + otherPlace + `","Weight":1}]}}`:                                                          shards.ErrUnknownAccount,
			`{"Lease":1000000000,"Idle":1000000000,"Config":{"Accounts":[{"Name":"a","Weight":1}],"Pins":{"p":"` + otherPlace + `"}}}`:                                         patterns.ErrBadReply,
			`{"Lease":1000000000,"Idle":1000000000,"Config":{"Accounts":[{"Name":"a","Weight":-1}]}}`:                                                                          patterns.ErrBadReply,
			`{"Lease":1000000000,"Idle":1000000000,"Config":{"Accounts":[{"Name":"a","Weight":1},{"Name":"a","Weight":1}]}}`:                                                   patterns.ErrBadReply,
			`{"Lease":9000000000000000000,"Idle":1000000000,"Config":{"Accounts":[{"Name":"a","Weight":1}]}}`:                                                                  patterns.ErrBadReply,
			`{"Lease":1000000000,"Idle":1000000000,"Config":{"Accounts":[]}}`:                                                                                                  patterns.ErrBadReply,
			`{"Lease":1000000000,"Idle":1000000000,"Config":{"Accounts":[{"Name":"a","Weight":1}]},"Move":{"To":{"Accounts":[{"Name":"a","Weight":1}]},"Clean":{"All":true}}}`: patterns.ErrBadReply,
		} {
			tr.row(t, "azpshards", map[string]any{"PartitionKey": "people", "RowKey": "directory", "Directory": text})
			table := assert.Must(shards.NewTable[citizen](assert.Must(shards.New(accounts, "people", nil))(t), nil))(t)
			tr.check(t, text, func(ctx context.Context) error { _, err := table.Get(ctx, at); return err }, want)
		}
	})

	t.Run("cursors", func(t *testing.T) {
		tr := newTrap(t)
		rows := harness.NewTable[citizen](t, tr.tables.NewClient("cities"), nil)
		assert.NoError(t, rows.Create(t.Context()))
		for i := range 5 {
			assert.Must(rows.Insert(t.Context(), &citizen{"p", fmt.Sprint(i), ""}))(t)
		}
		assert.Must(rows.Insert(t.Context(), &citizen{"other", "secret", ""}))(t)
		url, _ := rows.URL()
		f := query.PartitionKey.Eq("p")
		one := &patterns.QueryOptions{PageSize: 1}
		page := assert.Must(rows.Page(t.Context(), f, "", one))(t)
		both := assert.Must(regions.NewTable(rows, nil))(t)
		for _, text := range []string{"x", strings.Repeat("A", 1<<20), "\x1b[2J", pages.SealCursor([]byte("x"), url), pages.SealCursor([]byte(`{"Region":"`+otherPlace+`"}`), url, "regions", "page", f.String())} {
			tr.check(t, "page", func(ctx context.Context) error { _, err := rows.Page(ctx, f, text, one); return err }, patterns.ErrBadCursor)
			tr.check(t, "regions", func(ctx context.Context) error { _, err := both.Page(ctx, f, text, one); return err }, patterns.ErrBadCursor)
			tr.check(t, "scan", func(ctx context.Context) error { return last(rows.Scan(ctx, f, text, nil)) }, patterns.ErrBadCursor)
		}
		other := query.PartitionKey.Eq("other")
		tr.check(t, "of another partition", func(ctx context.Context) error { _, err := rows.Page(ctx, other, page.Cursor, one); return err }, patterns.ErrBadCursor)

		// A cursor that was forged with a period of another read.
		from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		days := assert.Must(highvolumedelete.New[visit](tr.tables, "days", highvolumedelete.Day, nil))(t)
		forged := pages.SealCursor([]byte("\x00\x00x"), "", "highvolumedelete", "days", highvolumedelete.Day.String(), "false", f.String(), "")
		tr.check(t, "another period", func(ctx context.Context) error {
			_, err := days.Page(ctx, from, from.AddDate(0, 0, 1), f, forged, nil)
			return err
		}, patterns.ErrBadCursor, nil)
	})

	t.Run("states of runs", func(t *testing.T) {
		tr := newTrap(t)
		index := secondaryindex.Intra("names", func(c *citizen) (string, bool) { return c.Name, true }, nil)
		store := harness.NewStore(t, tr.tables.NewClient("citizens"), &patterns.StoreOptions[citizen]{Views: []patterns.View[citizen]{index}})
		assert.NoError(t, store.Create(t.Context()))
		assert.Must(store.Insert(t.Context(), &citizen{"p", "r", "Ann"}))(t)
		var saved string
		opts := &reindex.Options{Differences: 64, Checkpoint: func(save func() (string, error)) (err error) {
			saved, err = save()
			return err
		}}
		assert.NoError(t, last(reindex.Verify(t.Context(), store, "", opts)))
		var state map[string]any
		assert.NoError(t, json.Unmarshal([]byte(saved), &state))
		checked := map[string]any{"Primary": at, "Ref": map[string]any{"View": "names", "Partition": "p", "Row": "x"}}
		for i, change := range []map[string]any{
			{"Kind": "x"}, {"Kind": "scanning", "Jobs": int64(1) << 40}, {"Kind": "scanning", "Jobs": 1, "Done": []int{7}}, {"Kind": "scanning", "Jobs": 1, "Done": []int{-1}},
			{"Kind": "scanning", "Jobs": 1, "Done": nil, "Parts": []any{map[string]any{"Table": 9}}}, {"Parts": []any{}}, {"Part": map[string]any{"Table": -1}},
			{"Class": "../x"}, {"Class": strings.Repeat("0", 100)}, {"Stage": 0}, {"Stage": -5}, {"Kind": "finishing", "Jobs": 1}, {"Kind": "filling", "Jobs": 1},
			{"Kind": "confirming", "Jobs": 1, "Done": nil, "Groups": []any{[]any{}}},
			{"Kind": "confirming", "Jobs": 1, "Done": nil, "Groups": []any{[]any{map[string]any{"Primary": keys.Key{Partition: "a/b"}, "Ref": checked["Ref"]}}}},
			{"Kind": "confirming", "Jobs": 1, "Done": nil, "Groups": []any{[]any{map[string]any{"Primary": at, "Ref": map[string]any{"View": otherPlace}}}}},
			{"Differences": int64(1) << 40}, {"Sketch": []any{}}, {"Of": "x"}, {"Of": ""},
		} {
			bad := maps.Clone(state)
			maps.Copy(bad, change)
			text := assert.Must(json.Marshal(bad))(t)
			n := tr.check(t, fmt.Sprint(i, change), func(ctx context.Context) error {
				return last(reindex.Verify(ctx, store, string(text), &reindex.Options{Differences: 64}))
			}, patterns.ErrBadCursor, patterns.ErrBadOption)
			if n != 0 {
				t.Errorf("%v: %d requests", change, n)
			}
		}
	})

	t.Run("names of entity types", func(t *testing.T) {
		for _, byRowKey := range []bool{false, true} {
			tr := newTrap(t)
			r := assert.Must(entitytype.NewRegistry(&entitytype.RegistryOptions{ByRowKey: byRowKey, Unversioned: 1}))(t)
			assert.NoError(t, entitytype.Register[citizen](r, "Citizen", 1, nil))
			table := assert.Must(entitytype.New(tr.tables.NewClient("people"), r, nil))(t)
			names := []string{"", ":", "Citizen:", "Citizen:0", "Citizen:-1", "Citizen:2", "Citizen:99999999999999999999", "citizen:1", "Citizen:1:1", "Citizen :1",
				"\x1b[2J:1", "\u009b2J", "../" + otherPlace + ":1", "\u202e:1", strings.Repeat("C", 30000) + ":1"}
			if byRowKey {
				names = []string{"\x1b[2J", "-1", "0", "99999999999999999999", "1:1", " 1", "../" + otherPlace, strings.Repeat("1", 30000)}
			}
			key := keys.Key{Partition: "p", Row: "Citizen_1"}
			for _, name := range names {
				tr.row(t, "people", map[string]any{"PartitionKey": key.Partition, "RowKey": key.Row, "EntityType": name, "Name": "Ann"})
				n := tr.check(t, fmt.Sprintf("update of %.30q", name), func(ctx context.Context) error {
					_, err := table.Update(ctx, key, func(e entitytype.Entity) error {
						u, unknown := e.Value.(*entitytype.Unknown)
						if !unknown || strings.ContainsFunc(e.Name, func(c rune) bool { return c < '0' || c > 'z' }) || e.Version < 0 {
							t.Errorf("%.30q is read as %T, %.30q version %d", name, e.Value, e.Name, e.Version)
							return nil
						}
						u.Properties["Name"] = "Anna"
						return nil
					})
					return err
				}, nil)
				if n != 2 {
					t.Errorf("%.30q: %d requests", name, n)
				}
				var row map[string]any
				stored := assert.Must(tr.tables.NewClient("people").GetEntity(t.Context(), key.Partition, key.Row, nil))(t)
				assert.NoError(t, json.Unmarshal(stored.Value, &row))
				if row["EntityType"] != name || row["Name"] != "Anna" {
					t.Errorf("%.30q: stored %.100q", name, stored.Value)
				}
			}
		}
	})

	t.Run("names of logs", func(t *testing.T) {
		tr := newTrap(t)
		hour := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
		for i, name := range []string{"w\u202e-000000.log", "w-999999999999999999.log", "w-000001.log"} {
			spans := []string{"99999999999999:0:3599", "1:0:9999", strings.Repeat("1:0:1,", 1000) + "1:0:1"}[i]
			_, err := tr.box.NewBlockBlobClient("app/2026/01/02/0300/"+name).UploadBuffer(t.Context(), []byte("not a line\n"), nil)
			assert.NoError(t, err)
			_, err = tr.box.NewBlobClient("app/2026/01/02/0300/"+name).SetMetadata(t.Context(), map[string]*string{"Spans": &spans}, nil)
			assert.NoError(t, err)
		}
		reader := assert.Must(logdata.NewReader(tr.box, "app", nil))(t)
		n := 0
		tr.check(t, "read", func(ctx context.Context) error {
			for _, err := range reader.Query(ctx, hour, hour.Add(time.Hour), "", nil) {
				var line *logdata.LineError
				if n++; !errors.As(err, &line) || strings.ContainsRune(err.Error(), '\u202e') {
					t.Errorf("got %q", err)
				}
			}
			return nil
		}, nil)
		if n != 3 {
			t.Errorf("%d entries", n)
		}
	})
}
