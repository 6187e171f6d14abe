package wideentity_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// guideRow is the guide's rule: 252 days in a row.
func guideRow(day int) int { return (day-1)/252 + 1 }

func guideOptions() *wideentity.Options[properties] {
	return &wideentity.Options[properties]{Parts: 2, Plain: true, PartOf: func(name string) int { return guideRow(dayNumber(name)) }}
}

func guideDay(day int) string { return fmt.Sprintf("Day%03d", day) }

// storeYear stores the guide's rows 000123_01 and 000123_02 as a program without this
// package does, and returns their properties.
func storeYear(t testing.TB, client *aztables.Client) properties {
	t.Helper()
	v := properties{}
	rows := map[int]map[string]any{}
	for day := 1; day <= 365; day++ {
		i := guideRow(day)
		if rows[i] == nil {
			rows[i] = map[string]any{"PartitionKey": "Sales", "RowKey": fmt.Sprintf("000123_%02d", i)}
		}
		rows[i][guideDay(day)], v[guideDay(day)] = day, int32(day)
	}
	for _, row := range rows {
		assert.Must(client.AddEntity(t.Context(), assert.Must(json.Marshal(row))(t), nil))(t)
	}
	return v
}

// readYear reads the rows by point queries, as a program without this package does.
func readYear(t testing.TB, client *aztables.Client, id string) properties {
	t.Helper()
	v := properties{}
	for i := 1; i <= 2; i++ {
		resp := assert.Must(client.GetEntity(t.Context(), "Sales", fmt.Sprintf("%s_%02d", id, i), nil))(t)
		var e aztables.EDMEntity
		assert.NoError(t, json.Unmarshal(resp.Value, &e))
		for name, value := range e.Properties {
			assert.Equal(t, guideRow(dayNumber(name)), i, "row", "has the property", name)
			v[name] = value
		}
	}
	return v
}

// mergeDay changes one day as a program without this package does.
func mergeDay(t testing.TB, client *aztables.Client, day, value int) {
	t.Helper()
	row := fmt.Sprintf(`{"PartitionKey":"Sales","RowKey":"000123_%02d","%s":%d}`, guideRow(day), guideDay(day), value)
	assert.Must(client.UpdateEntity(t.Context(), []byte(row), &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge}))(t)
}

func TestTheRowsOfTheGuideAreReadChangedAndReadBackByHand(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		want := storeYear(t, client)
		table := open[properties](t, client, guideOptions())

		b.ResetRequests()
		item := assert.Must(table.Get(t.Context(), year))(t)
		wantProperties(t, item.Value, want)
		b.WantRequests(t, map[string]int{"Table.Query": 1})
		part := assert.Must(table.GetOnly(t.Context(), year, guideDay(300)))(t)
		wantProperties(t, part.Value, properties{guideDay(300): int32(300)})
		b.WantRequests(t, map[string]int{"Table.Query": 1})
		part = assert.Must(table.GetOnly(t.Context(), year, guideDay(252), guideDay(253)))(t)
		wantProperties(t, part.Value, properties{guideDay(252): int32(252), guideDay(253): int32(253)})
		b.WantRequests(t, map[string]int{"Table.Query": 3})
		assert.Equal(t, rawRows(t, b, client), 2, "reading left", "rows")

		// The first write adds the head, and changes one row of the two.
		v := properties{guideDay(252): int32(-252)}
		untouched := assert.Must(client.GetEntity(t.Context(), "Sales", "000123_02", nil))(t).ETag
		b.ResetRequests()
		assert.NoError(t, mergeAny(t.Context(), table, year, &v, guideDay(252)))
		b.WantRequests(t, map[string]int{"Table.Query": 1, "Table.Batch": 1})
		assert.Equal(t, assert.Must(client.GetEntity(t.Context(), "Sales", "000123_02", nil))(t).ETag, untouched, "a merge into row 01 wrote row 02")
		want[guideDay(252)] = int32(-252)
		wantProperties(t, readYear(t, client, "000123"), want)

		item = assert.Must(table.Get(t.Context(), year))(t)
		for day := 1; day <= 365; day++ {
			want[guideDay(day)] = int32(1000 + day)
		}
		item.Value = maps.Clone(want)
		item = assert.Must(table.Replace(t.Context(), item))(t)
		wantProperties(t, readYear(t, client, "000123"), want)
		item.Value[guideDay(1)] = int32(7)
		assert.Must(table.Merge(t.Context(), item, guideDay(1)))(t) // the item that Replace returned
		want[guideDay(1)] = int32(7)

		// The other program goes on.
		mergeDay(t, client, 300, 3000)
		want[guideDay(300)] = int32(3000)
		item = assert.Must(table.Update(t.Context(), year, func(v *properties) error {
			(*v)[guideDay(2)] = (*v)[guideDay(300)]
			return nil
		}))(t)
		want[guideDay(2)] = int32(3000)
		wantProperties(t, readYear(t, client, "000123"), want)
		wantProperties(t, item.Value, want)

		// An entity that this package inserts looks the same.
		other := keys.Key{Partition: "Sales", Row: "000124"}
		assert.Must(table.Insert(t.Context(), keyed(other, &want)))(t)
		wantProperties(t, readYear(t, client, "000124"), want)

		assert.NoError(t, table.Delete(t.Context(), year, item.ETag))
		assert.NoError(t, table.Delete(t.Context(), other, azcore.ETagAny))
		assert.Equal(t, rawRows(t, b, client), 0, "rows are left")
	})
}

// All writes that know the entity are refused if the other program has changed one of the
// rows that they change, whether or not the entity has a head.
func TestAPlainWriteDoesNotOverwriteAChangeByHand(t *testing.T) {
	type table = *wideentity.Table[properties]
	type item = wideentity.Item[properties]
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for name, write := range map[string]func(ctx context.Context, table table, item item) error{
			"Replace": func(ctx context.Context, table table, item item) error {
				return assert.ErrorOf(table.Replace(ctx, item))
			},
			"Merge": func(ctx context.Context, table table, item item) error {
				return assert.ErrorOf(table.Merge(ctx, item, guideDay(301)))
			},
			"Delete": func(ctx context.Context, table table, item item) error {
				return table.Delete(ctx, year, item.ETag)
			},
		} {
			for _, adopted := range []bool{false, true} {
				client := b.Table(t)
				storeYear(t, client)
				table := open[properties](t, client, guideOptions())
				if adopted {
					assert.NoError(t, mergeAny(t.Context(), table, year, &properties{guideDay(1): int32(1)}, guideDay(1)))
				}
				item := assert.Must(table.Get(t.Context(), year))(t)
				mergeDay(t, client, 300, 3000)
				assert.WantError(t, write(t.Context(), table, item), patterns.ErrConflict, name, "adopted", adopted)
				if v := readYear(t, client, "000123"); v[guideDay(300)] != int32(3000) || len(v) != 365 {
					t.Errorf("%s, adopted %v: the change by hand is lost", name, adopted)
				}
				item = assert.Must(table.Get(t.Context(), year))(t)
				mergeDay(t, client, 1, -1) // a row that a merge of another does not touch
				if err := write(t.Context(), table, item); (err == nil) != (name == "Merge") {
					t.Errorf("%s, adopted %v, after a change of the other row: %v", name, adopted, err)
				}
			}
		}
	})
}

// Update and Set try again if the other program changes or deletes a row in between.
func TestAPlainUpdateTriesAgainAfterAChangeByHand(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		b.NamedTable(t, name)
		direct := b.Direct(t, name)
		want := storeYear(t, direct)
		changes := 0
		table := open[properties](t, b.AfterEachTry(t, name, func(int) {
			if last := b.Requests()[len(b.Requests())-1]; last.Op == "Table.Query" && changes < 2 {
				changes++
				mergeDay(t, direct, 300+changes, -1)
			}
		}), guideOptions())
		assert.Must(table.Update(t.Context(), year, func(v *properties) error {
			(*v)[guideDay(300)] = int32(-1)
			return nil
		}))(t)
		for day := 300; day <= 302; day++ {
			want[guideDay(day)] = int32(-1)
		}
		changes = 1
		assert.NoError(t, mergeAny(t.Context(), table, year, &properties{guideDay(303): int32(-1)}, guideDay(303)))
		want[guideDay(303)] = int32(-1)
		wantProperties(t, readYear(t, direct, "000123"), want)
	})
}

func TestAPlainEntityExistsAsLongAsItHasARow(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		storeYear(t, client)
		table := open[properties](t, client, guideOptions())
		v := properties{guideDay(1): int32(1)}
		assert.WantError(t, assert.ErrorOf(table.Insert(t.Context(), &v)), patterns.ErrExists)
		assert.Must(table.Put(t.Context(), &v))(t)
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, v)
		assert.Equal(t, rawRows(t, b, client), 2, "rows, want the head and one")
		assert.Must(client.DeleteEntity(t.Context(), "Sales", "000123_01", nil))(t)
		for name, err := range map[string]error{
			"Get":    assert.ErrorOf(table.Get(t.Context(), year)),
			"Read":   assert.ErrorOf(table.GetOnly(t.Context(), year, guideDay(1))),
			"Set":    mergeAny(t.Context(), table, year, &v, guideDay(1)),
			"Delete": table.Delete(t.Context(), year, azcore.ETagAny),
		} {
			assert.WantError(t, err, patterns.ErrNotFound, name)
		}
		assert.Must(table.Insert(t.Context(), &v))(t)
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, v)
		assert.Must(client.DeleteEntity(t.Context(), "Sales", "000123_01", nil))(t)
		assert.NoError(t, table.Delete(t.Context(), year, ""))
		// An entity without properties has a row too.
		assert.Must(table.Insert(t.Context(), &properties{}))(t)
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, properties{})
		assert.NoError(t, table.Delete(t.Context(), year, ""))
		assert.Equal(t, rawRows(t, b, client), 0, "rows are left")
	})
}

// A merge into the row that PartOf returns would store the property twice.
func TestRowsThatAreDividedByAnotherRuleAreRefused(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		storeYear(t, client)
		opts := guideOptions()
		opts.PartOf = guidePartOf // 251 days in a row
		table := open[properties](t, client, opts)
		v := properties{guideDay(252): int32(0)}
		for name, err := range map[string]error{
			"Get": assert.ErrorOf(table.Get(t.Context(), year)),
			"Set": mergeAny(t.Context(), table, year, &v, guideDay(252)),
		} {
			if !errors.Is(err, wideentity.ErrForeignRow) || !strings.Contains(err.Error(), guideDay(252)) {
				t.Errorf("%s: %v", name, err)
			}
		}
		wantProperties(t, assert.Must(table.Put(t.Context(), &v))(t).Value, v)
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, v)
	})
}

// Without the option the rows are those of another program, as before.
func TestPlainRowsAreForeignToOtherTables(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		want := storeYear(t, client)
		opts := guideOptions()
		opts.Plain = false
		annotated, plain := open[properties](t, client, opts), open[properties](t, client, guideOptions())
		assert.WantError(t, assert.ErrorOf(annotated.Get(t.Context(), year)), patterns.ErrNotFound)
		v := properties{guideDay(1): int32(1)}
		assert.WantError(t, assert.ErrorOf(annotated.Insert(t.Context(), &v)), wideentity.ErrForeignRow)

		// Once they have a head, other tables read them as a whole, and move them.
		assert.NoError(t, mergeAny(t.Context(), plain, year, &v, guideDay(1)))
		item := assert.Must(annotated.Get(t.Context(), year))(t)
		wantProperties(t, item.Value, want)
		some := []string{guideDay(252), guideDay(300)}
		wantProperties(t, assert.Must(annotated.GetOnly(t.Context(), year, some...))(t).Value, only(want, some))
		wantProperties(t, assert.Must(annotated.GetOnly(t.Context(), year, guideDay(1)))(t).Value, v)
		delete(item.Value, guideDay(252)) // 251 have room, with the note
		delete(want, guideDay(252))
		assert.Must(annotated.Replace(t.Context(), item))(t)
		wantProperties(t, assert.Must(annotated.Get(t.Context(), year))(t).Value, want)
		// And back.
		wantProperties(t, assert.Must(plain.Get(t.Context(), year))(t).Value, want)
		wideentity.SetBatchBytes(annotated, 1)
		assert.Must(annotated.Put(t.Context(), &want))(t) // staged
		wantProperties(t, assert.Must(plain.GetOnly(t.Context(), year, guideDay(1), guideDay(300)))(t).Value, only(want, []string{guideDay(1), guideDay(300)}))
		assert.Must(plain.Put(t.Context(), &want))(t)
		wantProperties(t, readYear(t, client, "000123"), want)
		assert.Equal(t, rawRows(t, b, client), 3, "rows")
	})
}

func TestWhatPlainRowsCannotHoldIsRefusedBeforeAnyRequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := open[properties](t, b.Table(t), &wideentity.Options[properties]{Parts: 2, Plain: true})
		b.ResetRequests()
		for name, v := range map[string]properties{
			"a value over 64 KiB":           {"Photo": noise(70_000)},
			"more properties than slots":    days(600),
			"a row of more than a mebibyte": manyTexts(40),
		} {
			assert.WantError(t, assert.ErrorOf(table.Put(t.Context(), &v)), patterns.ErrTooLarge, name)
		}
		b.WantRequestCount(t, 0)
	})
}

func manyTexts(n int) properties {
	v := properties{}
	for i := range n {
		v[fmt.Sprint("T", i)] = text(32_768)
	}
	return v
}

// A row that is read in several pages may change between them.
func TestAPlainEntityOfSeveralPagesIsReadAgainIfARowChanged(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		b.NamedTable(t, name)
		direct := b.Direct(t, name)
		want := storeYear(t, direct)
		b.Fault(storagetest.On("Table.Query").ShortPage(1))
		n := 0
		table := open[properties](t, b.AfterEachTry(t, name, func(int) {
			if n++; n == 2 {
				mergeDay(t, direct, 1, -1)
				mergeDay(t, direct, 300, -1)
			}
		}), guideOptions())
		want[guideDay(1)], want[guideDay(300)] = int32(-1), int32(-1)
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, want)
	})
}
