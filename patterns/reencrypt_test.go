package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/encryption"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// wards returns a Store of patients with a local and a remote copy of each.
func wards(t testing.TB, table *patterns.Table[patient], elsewhere *aztables.Client) *patterns.Store[patient] {
	ward := func(p *patient) (string, bool) { return p.Ward, true }
	views := []patterns.View[patient]{
		secondaryindex.Intra("local", ward, &secondaryindex.Options[patient]{NonUnique: true}),
		secondaryindex.Inter("remote", elsewhere, ward, &secondaryindex.Options[patient]{NonUnique: true}),
	}
	return assert.Must(patterns.NewStore(table, &patterns.StoreOptions[patient]{Views: views, Outbox: &harness.OutboxQueue{}}))(t)
}

func aPatientOf(row string) *patient {
	return &patient{PartitionKey: "p", RowKey: row, Ward: "w", Email: aPatient}
}

// wantReadable checks that every row of the tables can be read with the last key alone, and returns their number.
func wantReadable(t testing.TB, tables ...*aztables.Client) (n int) {
	t.Helper()
	for _, client := range tables {
		reader := assert.Must(patterns.Project[struct {
			Email string `table:",encrypted"`
		}](patients(t, client, "k2")))(t)
		for _, item := range assert.All(t, reader.Query(t.Context(), query.PartitionKey.Ge(""), &patterns.QueryOptions{Allow: query.TableScan})) {
			if item.Value.Email != "" { // a row of the store itself has none
				assert.Equal(t, item.Value.Email, aPatient)
				n++
			}
		}
	}
	return n
}

// Entities and copies in both tables have the new key afterwards, nothing else of the rows changes, and the report shows that the old key
// is not needed.
func TestReencryptBringsEntitiesAndCopiesToTheCurrentKey(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client, elsewhere := t.Context(), b.Table(t), b.Table(t)
		store := wards(t, patients(t, client, "k1"), elsewhere)
		for _, row := range []string{"a", "b", "c"} {
			assert.Must(store.Insert(ctx, aPatientOf(row)))(t)
		}
		at := keys.Key{Partition: "p", Row: "a"}
		before := content(t, client, at)
		later := wards(t, patients(t, client, "k2", "k1"), elsewhere)
		assert.Must(later.Update(ctx, keys.Key{Partition: "p", Row: "c"}, func(p *patient) error { p.Notes.Text = "x"; return nil }))(t)
		dry := assert.Must(later.Reencrypt(ctx, &patterns.SweepOptions{DryRun: true}))(t)
		assert.Equal(t, content(t, client, at)["Email"], before["Email"])
		b.ResetRequests()
		report := assert.Must(later.Reencrypt(ctx, nil))(t)
		b.WantRequestCount(t, report.Requests)
		assert.Equal(t, report.Requests-dry.Requests, report.Done, "a request for each row")
		assert.Equal(t, fmt.Sprint(report.Found, report.Done, report.Skipped, report.Failed, report.Cursor), fmt.Sprint(dry.Found, dry.Done, 0, 0, ""))
		wantOnly(t, before, content(t, client, at), "Email")
		assert.Equal(t, wantReadable(t, client, elsewhere), 9)
		assert.Equal(t, len(assert.All(t, reindex.Verify(ctx, later, "", nil))), 0, "findings")
		assert.Equal(t, assert.Must(later.Reencrypt(ctx, nil))(t).Found, 0)
		assert.Equal(t, assert.Must(later.Table().Reencrypt(ctx, &patterns.SweepOptions{Partitions: []string{"q"}}))(t).Found, 0)
	})
}

// What does not open is reported and left as it is, and all other rows are brought up to date. No error contains a value.
func TestReencryptReportsWhatItCannotOpen(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		for id, row := range map[string]string{"k1": "a", "k0": "b", "k2": "c"} {
			assert.Must(patients(t, client, id).Insert(ctx, aPatientOf(row)))(t)
		}
		raw := string(assert.Must(client.GetEntity(ctx, "p", "a", nil))(t).Value)
		assert.Must(client.AddEntity(ctx, []byte(strings.Replace(raw, `"RowKey":"a"`, `"RowKey":"moved"`, 1)), nil))(t)
		assert.Must(client.AddEntity(ctx, []byte(`{"PartitionKey":"p","RowKey":"plain","Email":"`+aPatient+`"}`), nil))(t)
		untyped := strings.ReplaceAll(raw, `"Email@odata.type":"Edm.Binary",`, "")
		assert.Must(client.UpdateEntity(ctx, []byte(untyped), &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace}))(t)
		report := assert.Must(patients(t, client, "k2", "k1").Reencrypt(ctx, nil))(t)
		assert.Equal(t, fmt.Sprint(report.Found, report.Done, report.Skipped, report.Failed), "3 1 0 2")
		for _, f := range report.Failures {
			want := map[string]error{"b": patterns.ErrNoKey, "moved": patterns.ErrSealed}[f.Key.Row]
			assert.WantError(t, f.Err, want, f.Key.Row)
			var of *patterns.PropertyError
			assert.Equal(t, errors.As(f.Err, &of) && of.Property == "Email", true)
			assert.WantHidden(t, f.Err, aPatient, "canary")
		}
		assert.Equal(t, assert.Must(patients(t, client, "k2").Get(ctx, keys.Key{Partition: "p", Row: "a"}))(t).Value.Email, aPatient)
		b.ResetRequests()
		_, err := harness.NewTable[patterns.Row](t, client, nil).Reencrypt(ctx, nil)
		assert.WantError(t, err, patterns.ErrBadOption)
		b.WantRequests(t, nil)
	})
}

// hooked are keys that call a function before a value is encrypted: between the read of a row and its write.
type hooked struct {
	patterns.EncryptionKeys
	hook *func()
}

func (h hooked) Current() (string, []byte) {
	if f := *h.hook; f != nil {
		*h.hook = nil
		f()
	}
	return h.EncryptionKeys.Current()
}

// Whatever happens to a row between read and write, no change is lost, and the row is up to date afterwards.
func TestReencryptLosesNoChangeOfAnotherProgram(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, at := t.Context(), keys.Key{Partition: "p", Row: "a"}
		for name, tt := range map[string]struct {
			change func(old, now *patterns.Table[patient]) error
			want   string // Found Done Skipped Failed
			ward   string
		}{
			"changed with the old key": {func(old, _ *patterns.Table[patient]) error {
				return assert.ErrorOf(old.Update(ctx, at, func(p *patient) error { p.Ward = "2"; return nil }))
			}, "1 1 0 0", "2"},
			"changed with the new key": {func(_, now *patterns.Table[patient]) error {
				return assert.ErrorOf(now.Update(ctx, at, func(p *patient) error { p.Ward = "3"; return nil }))
			}, "1 1 0 0", "3"},
			"another value with the old key": {func(old, _ *patterns.Table[patient]) error {
				return assert.ErrorOf(old.Update(ctx, at, func(p *patient) error { p.Email, p.Ward = "", aPatient; return nil }))
			}, "1 1 0 0", aPatient},
			"another value with the new key": {func(_, now *patterns.Table[patient]) error {
				return assert.ErrorOf(now.Update(ctx, at, func(p *patient) error { p.Email, p.Ward = "", aPatient+"5"; return nil }))
			}, "1 1 0 0", aPatient + "5"},
			"only another property": {func(old, _ *patterns.Table[patient]) error {
				return assert.ErrorOf(old.Do(ctx, patterns.UpsertOp(&patient{PartitionKey: "p", RowKey: "a", Ward: "4"}, patterns.Merge).Only("Ward")))
			}, "1 1 0 0", "4"},
			"encrypted by another sweep": {func(_, now *patterns.Table[patient]) error {
				return assert.ErrorOf(now.Reencrypt(ctx, nil))
			}, "1 1 0 0", "w"},
			"deleted": {func(old, _ *patterns.Table[patient]) error { return old.Delete(ctx, at, "") }, "1 0 1 0", ""},
			"the reply is lost": {func(_, _ *patterns.Table[patient]) error {
				b.Fault(storagetest.On("Table.Merge").LoseReply())
				return nil
			}, "1 1 0 0", "w"},
		} {
			client := b.Table(t)
			old := patients(t, client, "k1")
			assert.Must(old.Insert(ctx, aPatientOf("a")))(t)
			var hook func()
			sweeping := harness.NewTable(t, client, &patterns.TableOptions[patient]{
				Encryption: &patterns.Encryption{Keys: hooked{ringOf(t, "k2", "k1"), &hook}, Table: "patients"},
			})
			hook = func() { assert.NoError(t, tt.change(old, patients(t, client, "k2", "k1"))) }
			report := assert.Must(sweeping.Reencrypt(ctx, nil))(t)
			b.ClearFaults()
			assert.Equal(t, fmt.Sprint(report.Found, report.Done, report.Skipped, report.Failed), tt.want, name)
			if tt.ward == "" {
				continue
			}
			item := assert.Must(patients(t, client, "k2").Get(ctx, at))(t)
			if strings.HasPrefix(tt.ward, aPatient) {
				assert.Equal(t, item.Value.Email, "", name) // the change has moved the value
			} else {
				assert.Equal(t, item.Value.Email, aPatient, name)
			}
			assert.Equal(t, item.Value.Ward, tt.ward, name)
		}
	})
}

// A sweep that is killed at any request can be repeated, and leaves no row that does not open.
func TestReencryptSurvivesTheDeathOfItsProcess(t *testing.T) {
	open := func(t testing.TB, a *storagetest.Account, ids ...string) (*patterns.Store[patient], []*aztables.Client) {
		service := a.TablesWith(harness.Accelerated())
		client, elsewhere := service.NewClient("patients"), service.NewClient("wards")
		return wards(t, patients(t, client, ids...), elsewhere), []*aztables.Client{client, elsewhere}
	}
	storagetest.CrashPoints(t, func(ctx context.Context, a *storagetest.Account) error {
		store, _ := open(t, a, "k1")
		if err := store.Create(ctx); err != nil {
			return err
		}
		for _, row := range []string{"a", "b"} {
			if _, err := store.Insert(ctx, aPatientOf(row)); err != nil {
				return err
			}
		}
		a.Arm()
		store, _ = open(t, a, "k2", "k1")
		_, err := store.Reencrypt(ctx, nil)
		return err
	}, func(t *testing.T, a *storagetest.Account) {
		store, clients := open(t, a, "k2", "k1")
		report := assert.Must(store.Reencrypt(t.Context(), nil))(t)
		assert.Equal(t, report.Failed+report.Skipped, 0)
		assert.Equal(t, wantReadable(t, clients...), 6)
	})
}

// From cursor to cursor a sweep does the same; a cursor of another table, or a damaged one, is refused before anything is changed.
func TestReencryptContinuesFromItsCursor(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx, client, elsewhere := t.Context(), b.Table(t), b.Table(t)
		b.Fault(storagetest.On("Table.Query").ShortPage(2))
		store := wards(t, patients(t, client, "k1"), elsewhere)
		for i := range 5 {
			assert.Must(store.Insert(ctx, aPatientOf(fmt.Sprint(i))))(t)
		}
		sum, cursors := harness.SweepInPieces(t, patterns.SweepOptions{}, func(o *patterns.SweepOptions) (patterns.SweepReport, error) {
			return wards(t, patients(t, client, "k2", "k1"), elsewhere).Reencrypt(ctx, o) // another process each time
		})
		assert.Equal(t, fmt.Sprint(sum.Found, sum.Done), "15 15")
		assert.Equal(t, wantReadable(t, client, elsewhere), 15)
		another := patients(t, b.Table(t), "k3", "k1")
		assert.Must(patients(t, another.Client(), "k1").Insert(ctx, aPatientOf("z")))(t)
		for _, cursor := range cursors[:2] {
			later := wards(t, patients(t, client, "k3", "k2"), elsewhere)
			harness.WantBadCursors(t, cursor, func() int { return len(b.Requests()) }, func(o *patterns.SweepOptions) (patterns.SweepReport, error) {
				return later.Reencrypt(ctx, o)
			})
			report, err := another.Reencrypt(ctx, &patterns.SweepOptions{Cursor: cursor})
			assert.WantError(t, err, patterns.ErrBadCursor)
			assert.Equal(t, report.Done, 0)
		}
	})
}

// Programs with the old and the new key change entities, and two sweeps run, all at the same time.
func TestReencryptRunsWhileProgramsWrite(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client, elsewhere := t.Context(), b.Table(t), b.Table(t)
		stores := []*patterns.Store[patient]{
			wards(t, patients(t, client, "k1", "k2"), elsewhere),
			wards(t, patients(t, client, "k2", "k1"), elsewhere),
		}
		const rows, changes = 4, 6
		for i := range rows {
			assert.Must(stores[0].Insert(ctx, aPatientOf(fmt.Sprint(i))))(t)
		}
		var all sync.WaitGroup
		for n, store := range stores {
			all.Go(func() {
				for i := range changes {
					at := keys.Key{Partition: "p", Row: fmt.Sprint((i + n) % rows)}
					if _, err := store.Update(ctx, at, func(p *patient) error { p.Notes.Text += "+"; return nil }); err != nil {
						t.Error(err)
					}
				}
			})
			all.Go(func() {
				for range 3 {
					if r, err := stores[1].Reencrypt(ctx, nil); err != nil || r.Failed > 0 {
						t.Errorf("%+v: %v", r, err)
					}
				}
			})
		}
		all.Wait()
		report := assert.Must(stores[1].Reencrypt(ctx, nil))(t)
		assert.Equal(t, report.Failed+report.Skipped, 0)
		assert.Equal(t, wantReadable(t, client, elsewhere), 3*rows)
		assert.Equal(t, len(assert.All(t, reindex.Verify(ctx, stores[1], "", nil))), 0, "findings")
		sum := 0
		for i := range rows {
			sum += len(assert.Must(stores[1].Get(ctx, keys.Key{Partition: "p", Row: fmt.Sprint(i)}))(t).Value.Notes.Text)
		}
		assert.Equal(t, sum, 2*changes)
	})
}

// A value that has no room for a longer id of a key is reported, and stays.
func TestReencryptReportsAValueWithoutRoomForTheIDOfTheKey(t *testing.T) {
	client := storagetest.Start(nil).TablesWith(harness.Accelerated()).NewClient("patients")
	table := patients(t, client, "k")
	assert.NoError(t, table.Create(t.Context()))
	full := aPatientOf("a")
	full.Email = strings.Repeat("x", 65504)
	assert.Must(table.Insert(t.Context(), full))(t)
	ring := assert.Must(encryption.RingOf("longer", map[string][]byte{"longer": make([]byte, 32), "k": []byte(("k" + strings.Repeat("canary-key", 4))[:32])}))(t)
	longer := harness.NewTable(t, client, &patterns.TableOptions[patient]{Encryption: &patterns.Encryption{Keys: ring, Table: "patients"}})
	report := assert.Must(longer.Reencrypt(t.Context(), nil))(t)
	assert.Equal(t, report.Failed, 1)
	assert.WantError(t, report.Failures[0].Err, patterns.ErrTooLarge)
	assert.Equal(t, len(assert.Must(longer.Get(t.Context(), keys.Key{Partition: "p", Row: "a"}))(t).Value.Email), 65504)
}
