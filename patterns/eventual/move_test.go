package eventual_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

func TestMoveKeepsAllPropertiesAndDeletesTheSource(t *testing.T) {
	for name, c := range map[string]struct {
		archived string // the row in the archive before the move
		want     func(a *archive) []string
	}{
		"empty archive": {"", func(a *archive) []string { return []string{"Table.Get", a.names[0], "Table.Delete"} }},
		"interrupted move": {employee456, func(a *archive) []string {
			return []string{"Table.Get", a.names[0], a.names[1], a.names[2], "Table.Delete"}
		}},
		"earlier row archived": {employee("1", "long ago"), func(a *archive) []string {
			return []string{"Table.Get", a.names[0], a.names[1], "Table.Get", a.names[2], "Table.Delete"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			harness.Run(t, func(t *testing.T, b *harness.Backend) {
				archives(t, b, func(t *testing.T, a *archive) {
					putRow(t, a.current, employee456)
					if c.archived != "" {
						a.put(t, c.archived)
					}
					b.ResetRequests()
					assert.NoError(t, a.move(t.Context(), row456()))
					b.WantOps(t, c.want(a)...)
					a.want(t, "", employee456)

					// A second move finds the row in the archive.
					b.ResetRequests()
					assert.NoError(t, a.move(t.Context(), row456()))
					b.WantOps(t, "Table.Get", a.names[1])
					a.want(t, "", employee456)
				})
			})
		})
	}
}

// handWritten is a row as a program without this library stores it, with spellings that the library
// does not write.
const handWritten = `{"PartitionKey":"Sales","RowKey":"456","Zoned":"2026-03-01T00:00:00.120+02:00","Whole":3,` +
	`"Half":2.5,"Badge@odata.type":"Edm.Int64","Badge":"9007199254740993","Hired@odata.type":"Edm.DateTime","Hired":"2012-09-01T00:00:00Z",` +
	`"Device@odata.type":"Edm.Guid","Device":"c9da6455-213d-42c9-9a79-3e9149a57833","Photo@odata.type":"Edm.Binary","Photo":"AAEC",` +
	`"Empty":"","No":false,"Address":" {\"Zip\" : 1.00, \"City\":\"Bern\"}\n"}`

func TestMoveKeepsTheTextAndTheTypesOfARow(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		current, old := b.Table(t), b.Table(t)
		putRow(t, current, handWritten)
		read := func(from *aztables.Client) map[string]string {
			reply := assert.Must(from.GetEntity(t.Context(), key456.Partition, key456.Row, nil))(t)
			var members map[string]json.RawMessage
			assert.NoError(t, json.Unmarshal(reply.Value, &members))
			texts := map[string]string{}
			for name, text := range members {
				if name != "Timestamp" && !strings.HasPrefix(name, "odata.") {
					texts[name] = string(text)
				}
			}
			return texts
		}
		before := read(current)
		if len(before) < 16 {
			t.Fatalf("the row is %v", before)
		}
		assert.NoError(t, eventual.Move(t.Context(), current, old, row456()))
		assert.EqualMaps(t, before, read(old), "moved as", "was")
	})
}

// The stamps identify writes to the row in the current table.
func TestACopyHasNoWriteStamps(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			putRow(t, a.current, strings.Replace(employee456, `"azp_pk"`, `"azp_stamp":"abc.new", "azp_pk"`, 1))
			assert.NoError(t, a.move(t.Context(), row456()))
			a.want(t, "", employee456)
		})
	})
}

func TestMoveToTheSameTableIsRefused(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		table := b.NamedTable(t, name)
		putRow(t, table, employee456)
		for _, target := range []string{name, strings.ToUpper(name)} {
			assert.Failed(t, eventual.Move(t.Context(), table, b.Direct(t, target), row456()), target, "no error")
			if _, ok := readRow(t, table); !ok {
				t.Fatalf("%s: the row was deleted", target)
			}
		}
	})
}

func TestMoveOfMissingOrInvalidRowFails(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			b.ResetRequests()
			assert.WantError(t, a.move(t.Context(), row456()), patterns.ErrNotFound)
			for _, r := range []eventual.Row{{PartitionKey: "a/b"}, {PartitionKey: "a", Where: "x eq"}} {
				b.ResetRequests()
				assert.Failed(t, a.move(t.Context(), r), r, "was moved")
				b.WantRequests(t, nil)
			}
		})
	})
}

func TestHandleMoveMovesRowsAndPoisonsImpossibleMoves(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		current, old, blobs := b.Table(t), b.Table(t), b.Container(t)
		s := newFixture(t, b, nil)
		eventual.HandleMove(s.worker, "employee.archive", current, old)
		eventual.HandleMoveToBlob(s.worker, "employee.export", old, blobs)
		putRow(t, current, employee456)
		s.put(t, "employee.archive", row456(), nil)
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		s.put(t, "employee.export", row456(), nil)
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		a := &archive{current: old, read: func(t testing.TB) (string, bool) { return readBlob(t, blobs) }}
		a.want(t, "", employee456)

		// Moves that no further attempt can complete become poison immediately.
		s.put(t, "employee.archive", eventual.Row{PartitionKey: "Sales", RowKey: "457"}, nil)
		s.put(t, "employee.archive", eventual.Row{PartitionKey: "a/b"}, nil)
		etag := putRow(t, current, employee("1", "Ken"))
		putRow(t, current, employee("1", "Ken Kwok"))
		s.put(t, "employee.archive", eventual.Row{PartitionKey: "Sales", RowKey: "456", ETag: etag}, nil)
		wantOutcomes(t, s.until(t, 3), eventual.Poisoned, eventual.Poisoned, eventual.Poisoned)
	})
}

func TestBlobName(t *testing.T) {
	for key, want := range map[keys.Key]string{
		{Partition: "Sales", Row: "000123"}:      "Sales/000123.json",
		{Partition: "", Row: ""}:                 "_/_.json",
		{Partition: "..", Row: "."}:              ".._/._.json",
		{Partition: "a.", Row: "b_c"}:            "a._/" + keys.Escape("b_c") + ".json",
		{Partition: "Köln", Row: "jonesj@x.com"}: "Köln/jonesj@x.com.json",
	} {
		assert.Equal(t, assert.Must(eventual.BlobName(key))(t), want)
	}
	long := keys.Key{Partition: strings.Repeat("a", 512), Row: strings.Repeat("b", 512)}
	assert.WantError(t, assert.ErrorOf(eventual.BlobName(long)), patterns.ErrTooLarge)
	assert.WantError(t, assert.ErrorOf(eventual.BlobName(keys.Key{Partition: "a/b"})), patterns.ErrBadKey)
}
