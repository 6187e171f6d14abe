package dataseries_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/dataseries"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// messages is the row of a program that uses aztables alone.
type messages struct {
	aztables.Entity
	FirstName          string
	MessageCountHour01 int32
	MessageCountHour09 int32
	MessageCountHour10 int32
	MessageCountHour24 int32
}

func openGuide[V dataseries.Value](t testing.TB, client *aztables.Client, ring dataseries.Ring, property string) *dataseries.Series[V] {
	t.Helper()
	return assert.Must(dataseries.New[V](client, ring, &dataseries.Options{Property: property}))(t)
}

func addByHand(t testing.TB, client *aztables.Client, v any) {
	t.Helper()
	assert.NoError(t, assert.ErrorOf(client.AddEntity(t.Context(), assert.Must(json.Marshal(v))(t), nil)))
}

// writeByHand merges or replaces a row.
func writeByHand(t testing.TB, client *aztables.Client, v any, mode aztables.UpdateMode) {
	t.Helper()
	assert.NoError(t, assert.ErrorOf(client.UpdateEntity(t.Context(), assert.Must(json.Marshal(v))(t), &aztables.UpdateEntityOptions{UpdateMode: mode})))
}

// readByHand returns a row with its own properties, without those of the service.
func readByHand(t testing.TB, client *aztables.Client, row string) map[string]any {
	t.Helper()
	resp := assert.Must(client.GetEntity(t.Context(), "Sales", row, nil))(t)
	var v aztables.EDMEntity
	assert.NoError(t, json.Unmarshal(resp.Value, &v))
	return v.Properties
}

func kenByHand() messages {
	return messages{Entity: aztables.Entity{PartitionKey: "Sales", RowKey: "000123"}, FirstName: "Ken",
		MessageCountHour01: 12, MessageCountHour09: 7}
}

func TestASeriesWrittenByHandIsReadChangedAndReadByHand(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		addByHand(t, client, kenByHand())
		addByHand(t, client, messages{Entity: aztables.Entity{PartitionKey: "Sales", RowKey: "0001230"}, MessageCountHour01: 1000})
		s := openGuide[int32](t, client, dataseries.HoursOfDay(), "MessageCountHour")

		b.ResetRequests()
		points := assert.Must(s.Get(ctx, ken, today(0)))(t)
		b.WantRequestCount(t, 1)
		if len(points) != 4 || points[0].Value != 12 || !points[0].Time.Equal(today(0).Truncate(time.Hour)) ||
			points[1].Value != 7 || points[1].Time.Hour() != 8 || points[3].Value != 0 || points[3].Time.Hour() != 23 {
			t.Errorf("written by hand: %v", points)
		}
		b.ResetRequests()
		assert.NoError(t, s.Set(ctx, ken, today(23), 5))
		b.WantRequestCount(t, 1)
		assert.NoError(t, s.Add(ctx, ken, today(8), 3))
		b.WantRequestCount(t, 2)
		assert.NoError(t, s.SetAll(ctx, ken, []dataseries.Point[int32]{{Time: today(9), Value: 9}}))
		b.WantRequestCount(t, 1)
		// The row does not contain the day, so a value of yesterday is not late.
		assert.NoError(t, s.Set(ctx, ken, today(0).AddDate(0, 0, -1), 13))
		b.WantRequestCount(t, 1)

		got := readByHand(t, client, "000123")
		if _, ok := got["azp_adds"].(string); !ok {
			t.Errorf("the IDs of additions: %v", got["azp_adds"])
		}
		delete(got, "azp_adds")
		if want := map[string]any{"FirstName": "Ken", "MessageCountHour01": int32(13), "MessageCountHour09": int32(10),
			"MessageCountHour10": int32(9), "MessageCountHour24": int32(5)}; !maps.Equal(got, want) {
			t.Errorf("row: %v, want %v", got, want)
		}
		var row messages
		assert.NoError(t, json.Unmarshal(assert.Must(client.GetEntity(ctx, "Sales", "000123", nil))(t).Value, &row))
		if row.FirstName != "Ken" || row.MessageCountHour09 != 10 {
			t.Errorf("as the struct of the other program: %+v", row)
		}
		if points, err := s.Get(ctx, dataseries.ID{Partition: "Sales", Series: "0001230"}, today(0)); err != nil || points[0].Value != 1000 {
			t.Errorf("neighbour: %v, %v", points, err)
		}
		// A series that does not exist yet.
		assert.NoError(t, s.Add(ctx, dataseries.ID{Partition: "Sales", Series: "000124"}, today(9), 1))
		if got := readByHand(t, client, "000124"); got["MessageCountHour10"] != int32(1) {
			t.Errorf("new row: %v", got)
		}
	})
}

func TestTheLastRoundOfASeriesWrittenByHandEndsAtTheGivenTime(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		addByHand(t, client, kenByHand())
		s := openGuide[int32](t, client, dataseries.HoursOfDay(), "MessageCountHour")
		last := assert.Must(s.Last(t.Context(), ken, today(8)))(t)
		if len(last) != 4 || last[3].Value != 7 || !last[3].Time.Equal(today(8).Truncate(time.Hour)) ||
			!last[0].Time.Equal(today(9).Truncate(time.Hour).AddDate(0, 0, -1)) {
			t.Errorf("%v", last)
		}
	})
}

// The guide stores a year in two rows, the first with 252 days: the most that a row can have.
func TestAYearWrittenByHandHasTwoRows(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		first := map[string]any{"PartitionKey": "Sales", "RowKey": "000123_01"}
		second := map[string]any{"PartitionKey": "Sales", "RowKey": "000123_02"}
		for day := 1; day <= 365; day++ {
			row := first
			if day > 252 {
				row = second
			}
			row[fmt.Sprintf("MesssageCountDay%03d", day)] = day
		}
		addByHand(t, client, first)
		addByHand(t, client, second)
		addByHand(t, client, map[string]any{"PartitionKey": "Sales", "RowKey": "000123_2012", "Comments": "a review"})
		s := openGuide[int32](t, client, dataseries.DaysOfYear(), "MesssageCountDay")
		newYear := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)
		b.ResetRequests()
		points := assert.Must(s.Get(ctx, ken, newYear))(t)
		b.WantRequestCount(t, 1)
		assert.Equal(assert.Now(t), len(points), 365, "points")
		for d, p := range points {
			if p.Value != int32(d+1) || p.Time.YearDay() != d+1 {
				t.Errorf("day %d is %v", d+1, p)
			}
		}
		assert.NoError(t, s.Add(ctx, ken, newYear.AddDate(0, 0, 251), 1000))
		assert.NoError(t, s.Add(ctx, ken, newYear.AddDate(0, 0, 252), 1000))
		if got := readByHand(t, client, "000123_01"); len(got) != 252 || got["MesssageCountDay252"] != int32(1252) {
			t.Errorf("first row: %d properties, day 252 is %v", len(got), got["MesssageCountDay252"])
		}
		if got := readByHand(t, client, "000123_02"); got["MesssageCountDay253"] != int32(1253) {
			t.Errorf("second row: day 253 is %v", got["MesssageCountDay253"])
		}
	})
}

// The other program replaces the row, and so removes the IDs of additions. Then the row does
// not show whether an addition was made, and it must not be made twice.
func TestAnAdditionIsNotMadeTwiceIfAnotherProgramReplacesTheRow(t *testing.T) {
	acct := storagetest.New(t)
	client := acct.Tables().NewClient("Series")
	assert.Must(client.CreateTable(t.Context(), nil))(t)
	addByHand(t, client, kenByHand())
	acct.Fault(storagetest.On("Table.Merge").Nth(1).LoseReply())
	other := &otherProgram{merged: func() {
		row := kenByHand()
		row.MessageCountHour09 = 8 // which it has read after the addition
		row.FirstName = "Kenneth"
		writeByHand(t, client, row, aztables.UpdateModeReplace)
	}}
	opts := &aztables.ClientOptions{}
	opts.PerCallPolicies = []policy.Policy{other}
	s := openGuide[int32](t, acct.TablesWith(opts).NewClient("Series"), dataseries.HoursOfDay(), "MessageCountHour")
	assert.WantError(t, s.Add(t.Context(), ken, today(8), 1), patterns.ErrOutcomeUnknown)
	if got := readByHand(t, client, "000123"); got["MessageCountHour09"] != int32(8) {
		t.Errorf("7 and 1 are %v", got["MessageCountHour09"])
	}
}

// otherProgram is a policy that calls merged before the first request after a merge.
type otherProgram struct {
	merged func()
	seen   bool
}

func (o *otherProgram) Do(req *policy.Request) (*http.Response, error) {
	switch merge := req.Raw().Method == http.MethodPatch || req.Raw().Method == "MERGE"; {
	case merge:
		o.seen = true
	case o.seen && o.merged != nil:
		o.merged()
		o.merged = nil
	}
	return req.Next()
}

func TestNewRefusesANameThatNoPropertyCanHave(t *testing.T) {
	client := assert.Must(aztables.NewClientWithNoCredential("https://example.invalid/T", nil))(t)
	for _, name := range []string{"a b", "azp_", "1x", "odata.x"} {
		if _, err := dataseries.New[int32](client, dataseries.HoursOfDay(), &dataseries.Options{Property: name}); !errors.Is(err, patterns.ErrBadOption) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
