package regions_test

import (
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/query"
)

// brittle panics when it is decoded, if its text is "brittle".
type brittle string

func (b brittle) MarshalText() ([]byte, error) { return []byte(b), nil }

func (b *brittle) UnmarshalText(text []byte) error {
	if *b = brittle(text); *b == "brittle" {
		panic("brittle")
	}
	return nil
}

// A server recovers panics of its handlers. One of another goroutine would end the process.
func TestAPanicInUnmarshalTextReachesTheCallerOfPage(t *testing.T) {
	type brittleRow struct {
		PartitionKey, RowKey string
		N                    brittle
	}
	inBothModes(t, func(t *testing.T, w *world) {
		rows := assert.Must(patterns.NewTable[brittleRow](w.rows.Client(), nil))(t)
		table := assert.Must(regions.NewTable(rows, nil))(t)
		for _, r := range []brittleRow{{"p", "1", "sound"}, {"p", "2", "brittle"}} {
			assert.Must(rows.Insert(t.Context(), &r))(t)
		}
		f, opts := query.PartitionKey.Eq("p"), &patterns.QueryOptions{PageSize: 1}
		first := assert.Must(table.Page(t.Context(), f, "", opts))(t)
		defer func() {
			if p := recover(); p != "brittle" {
				t.Errorf("recovered %v", p)
			}
		}()
		page, err := table.Page(t.Context(), f, first.Cursor, opts)
		t.Errorf("%+v, %v", page, err)
	})
}
