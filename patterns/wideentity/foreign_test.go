package wideentity_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// storeForeign stores rows at the keys of parts, as the guide's own layout has them.
func storeForeign(t testing.TB, client *aztables.Client, suffixes ...string) {
	t.Helper()
	for _, suffix := range suffixes {
		row := fmt.Sprintf(`{"PartitionKey":%q,"RowKey":"%s_%s","Mine":"%s"}`, year.Partition, year.Row, suffix, suffix)
		assert.Must(client.UpsertEntity(t.Context(), []byte(row), nil))(t)
	}
}

// wantForeign checks that the rows stored by storeForeign are unchanged.
func wantForeign(t testing.TB, client *aztables.Client, suffixes ...string) {
	t.Helper()
	for _, suffix := range suffixes {
		resp := assert.Must(client.GetEntity(t.Context(), year.Partition, year.Row+"_"+suffix, nil))(t)
		var row map[string]any
		assert.NoError(t, json.Unmarshal(resp.Value, &row))
		if row["Mine"] != suffix || row["azp_part"] != nil {
			t.Errorf("row %s was overwritten: %s", suffix, resp.Value)
		}
	}
}

func TestAnEntityIsNotWrittenOverRowsThatAreNotItsParts(t *testing.T) {
	writes := map[string]func(context.Context, *wideentity.Table[properties], *properties) error{
		"Insert": func(ctx context.Context, table *wideentity.Table[properties], v *properties) error {
			return assert.ErrorOf(table.Insert(ctx, v))
		},
		"Put": func(ctx context.Context, table *wideentity.Table[properties], v *properties) error {
			return assert.ErrorOf(table.Put(ctx, v))
		},
	}
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for name, write := range writes {
			client := b.Table(t)
			table := open[properties](t, client, &wideentity.Options[properties]{Parts: 4})
			storeForeign(t, client, "01", "02")
			b.ResetRequests()
			v := days(100)
			err := write(t.Context(), table, &v)
			assert.WantError(t, err, wideentity.ErrForeignRow)
			if errors.Is(err, patterns.ErrOutcomeUnknown) {
				t.Errorf("%s: a refusal is unknown: %v", name, err)
			}
			want := map[string]int{"Table.Batch": 1}
			if name == "Put" {
				want["Table.Get"] = 1
			}
			b.WantRequests(t, want)
			assert.Equal(t, len(harness.Rows(t, client)), 2, name, "rows, want the 2 foreign ones")
			wantForeign(t, client, "01", "02")
		}
	})
}

func TestARowOfAnotherProgramAtTheKeyOfTheHeadIsLeftAlone(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := open[properties](t, client, nil)
		storeForeign(t, client, "00")
		v := days(3)
		for name, err := range map[string]error{
			"Put":    assert.ErrorOf(table.Put(t.Context(), &v)),
			"Get":    assert.ErrorOf(table.Get(t.Context(), year)),
			"Delete": table.Delete(t.Context(), year, ""),
		} {
			if !errors.Is(err, wideentity.ErrForeignRow) || errors.Is(err, patterns.ErrBadReply) {
				t.Errorf("%s: %v", name, err)
			}
		}
		assert.WantError(t, assert.ErrorOf(table.Insert(t.Context(), &v)), patterns.ErrExists)
		wantForeign(t, client, "00")
	})
}

func TestAnEntityDoesNotGrowOverRowsThatAreNotItsParts(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := open[properties](t, client, &wideentity.Options[properties]{Parts: 2, PartOf: func(name string) int {
			if strings.HasPrefix(name, "Late") {
				return 2
			}
			return 1
		}})
		v := properties{"Early": int32(1)}
		item := assert.Must(table.Insert(t.Context(), &v))(t)
		storeForeign(t, client, "02")
		more := properties{"Early": int32(2), "Late": int32(3)}
		item.Value = more
		for name, err := range map[string]error{
			"Replace": assert.ErrorOf(table.Replace(t.Context(), item)),
			"Merge":   assert.ErrorOf(table.Merge(t.Context(), item, "Late")),
			"Set":     mergeAny(t.Context(), table, year, &more, "Late"),
			"Put":     assert.ErrorOf(table.Put(t.Context(), &more)),
			"Update": assert.ErrorOf(table.Update(t.Context(), year, func(v *properties) error {
				(*v)["Late"] = int32(3)
				return nil
			})),
		} {
			assert.WantError(t, err, wideentity.ErrForeignRow, name)
		}
		wantForeign(t, client, "02")
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, v)
	})
}

func TestAStagedEntityLeavesRowsThatAreNotItsParts(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := open[properties](t, client, &wideentity.Options[properties]{Parts: 4})
		wideentity.SetBatchBytes(table, 2000)
		storeForeign(t, client, "01", "02", "03", "04")
		v := days(200)
		assert.Must(table.Insert(t.Context(), &v))(t)
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, v)
		wantProperties(t, assert.Must(table.GetOnly(t.Context(), year, dayName(1)))(t).Value, properties{dayName(1): int32(1)})
		v = days(150)
		assert.Must(table.Put(t.Context(), &v))(t)
		assert.NoError(t, table.Delete(t.Context(), year, ""))
		wantForeign(t, client, "01", "02", "03", "04")
		assert.Equal(t, len(harness.Rows(t, client)), 4, "rows, want the 4 foreign ones")
	})
}

// An attempt of a staged write arrives after the write has succeeded on a retry and a merge
// has changed the staged rows.
func TestALateAttemptToStagePartsDoesNotUndoALaterMerge(t *testing.T) {
	var late func()
	hold := 0 // the transaction to hold back, counted down
	wrap := func(inner policy.Transporter) harness.Transport {
		return func(req *http.Request) (*http.Response, error) {
			if req.Method == http.MethodPost {
				hold--
			}
			if hold != 0 || req.Method != http.MethodPost {
				return inner.Do(req)
			}
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return nil, err
			}
			late = func() {
				req.Body = io.NopCloser(bytes.NewReader(body))
				assert.MayFail(inner.Do(req.WithContext(context.Background())))
			}
			return nil, errors.New("connection reset")
		}
	}
	harness.RunThrough(t, wrap, func(t *testing.T, client *aztables.Client, _ *storagetest.Account) {
		table := open[properties](t, client, &wideentity.Options[properties]{Parts: 4})
		wideentity.SetBatchBytes(table, smallBatch)
		v := large("x")
		hold = 2 // the first part; the first transaction inserts the marker
		assert.Must(table.Insert(t.Context(), &v))(t)
		for name := range v {
			v[name] = "changed"
			assert.NoError(t, mergeAny(t.Context(), table, year, &v, name))
		}
		late()
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, v)
		sweepNow(t, table, year)
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, v)
	})
}
