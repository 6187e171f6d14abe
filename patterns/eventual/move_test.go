package eventual_test

import (
	"errors"
	"strings"
	"testing"

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
					harness.NoError(t, a.move(t.Context(), row456()))
					b.WantOps(t, c.want(a)...)
					a.want(t, "", employee456)

					// A second move finds the row in the archive.
					b.ResetRequests()
					harness.NoError(t, a.move(t.Context(), row456()))
					b.WantOps(t, "Table.Get", a.names[1])
					a.want(t, "", employee456)
				})
			})
		})
	}
}

// The stamps identify writes to the row in the current table.
func TestACopyHasNoWriteStamps(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			putRow(t, a.current, strings.Replace(employee456, `"azp_pk"`, `"azp_stamp":"abc.new", "azp_pk"`, 1))
			if err := a.move(t.Context(), row456()); err != nil {
				t.Fatal(err)
			}
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
			if err := eventual.Move(t.Context(), table, b.Direct(t, target), row456()); err == nil {
				t.Errorf("%s: no error", target)
			}
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
			if err := a.move(t.Context(), row456()); !errors.Is(err, patterns.ErrNotFound) {
				t.Errorf("got %v", err)
			}
			for _, r := range []eventual.Row{{PartitionKey: "a/b"}, {PartitionKey: "a", Where: "x eq"}} {
				b.ResetRequests()
				if err := a.move(t.Context(), r); err == nil {
					t.Errorf("%v was moved", r)
				}
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
		if got, err := eventual.BlobName(key); err != nil || got != want {
			t.Errorf("%v: %q, %v, want %q", key, got, err, want)
		}
	}
	long := keys.Key{Partition: strings.Repeat("a", 512), Row: strings.Repeat("b", 512)}
	if _, err := eventual.BlobName(long); !errors.Is(err, patterns.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if _, err := eventual.BlobName(keys.Key{Partition: "a/b"}); !errors.Is(err, patterns.ErrBadKey) {
		t.Errorf("got %v", err)
	}
}
