package reindex

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// resident is an entity with a view in its own table and one in another.
type resident struct{ PartitionKey, RowKey, Name, Badge string }

// A state that is accepted is printed as it was, and a run that continues from it reads the tables of
// its Store, and changes nothing.
func FuzzState(f *testing.F) {
	account := storagetest.Start(nil)
	tables := account.Tables()
	names := secondaryindex.Intra("names", func(r *resident) (string, bool) { return r.Name, true }, nil)
	badges := secondaryindex.Inter("badges", tables.NewClient("Badges"), func(r *resident) (string, bool) { return r.Badge, true }, nil)
	table := assert.Must(patterns.NewTable[resident](tables.NewClient("Residents"), nil))(f)
	store, err := patterns.NewStore(table, &patterns.StoreOptions[resident]{Views: []patterns.View[resident]{names, badges}, Outbox: noQueue{}})
	if err == nil {
		err = store.Create(f.Context())
	}
	for _, r := range []resident{{"p", "1", "Ann", "A"}, {"q", "2", "Bob", "B"}} {
		if err == nil {
			_, err = store.Insert(f.Context(), &r)
		}
	}
	if err == nil { // a difference
		_, err = tables.NewClient("Badges").AddEntity(f.Context(), []byte(`{"PartitionKey":"badges_z","RowKey":"q_2","azp_pk":"q","azp_rk":"2","azp_view":"badges"}`), nil)
	}
	assert.NoError(f, err)
	// The states after each save of a run are those that are changed. All of them are accepted.
	for _, err := range Verify(f.Context(), store, "", &Options{Differences: 64, Checkpoint: func(save func() (string, error)) error {
		text, err := save()
		var s state
		if err == nil {
			err = json.Unmarshal([]byte(text), &s)
		}
		if err == nil {
			_, err = newRun(store, s)
		}
		f.Add([]byte(text))
		return err
	}}) {
		assert.NoError(f, err)
	}
	f.Add([]byte(`{"Of":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s state
		if json.Unmarshal(text, &s) != nil || s.Of == "" || s.Differences > 1<<10 {
			return
		}
		r, err := newRun(store, s)
		if err != nil {
			if !errors.Is(err, patterns.ErrBadCursor) && !errors.Is(err, patterns.ErrBadOption) && !errors.Is(err, patterns.ErrBadView) {
				t.Errorf("got %v", err)
			}
			return
		}
		printed := assert.Must(json.Marshal(r.state))(t)
		var again state
		assert.NoError(t, json.Unmarshal(printed, &again))
		if twice, _ := json.Marshal(again); !reflect.DeepEqual(twice, printed) {
			t.Errorf("%s is printed as %s", printed, twice)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		account.ResetLog()
		findings := 0
		for _, err := range Verify(ctx, store, string(text), nil) {
			if findings++; err != nil || findings == 1000 {
				break
			}
		}
		for _, q := range account.Log() {
			if q.Resource != "Residents" && q.Resource != "Badges" || q.Op != "Table.Query" && q.Op != "Table.Get" && q.Op != "Table.Batch" {
				t.Errorf("%s: %v", text, q)
			}
		}
		if ctx.Err() != nil {
			t.Errorf("%s: %d requests, and no end", text, len(account.Log()))
		}
	})
}

// noQueue loses all messages.
type noQueue struct{}

func (noQueue) Put(context.Context, patterns.OutboxMessage, time.Duration) (patterns.Receipt, error) {
	return patterns.Receipt{}, nil
}

func (noQueue) Delete(context.Context, patterns.Receipt) error { return nil }
