package readings

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const dayForm = "2006/01/02"

type Day struct {
	PartitionKey string
	RowKey       string
	Minimum      int32
	Maximum      int32
}

type Keyer struct {
	Sensor string
}

func (k Keyer) For(day time.Time) (pk, rk string) {
	return k.Sensor, day.UTC().Format(dayForm) // MISTAKE: the form has slashes, which a key may not hold
}

type Store struct {
	table *aztables.Client
	keys  Keyer
}

func (s *Store) Put(ctx context.Context, day time.Time, low, high int32) error {
	pk, rk := s.keys.For(day)
	raw, err := json.Marshal(Day{PartitionKey: pk, RowKey: rk, Minimum: low, Maximum: high})
	if err != nil {
		return err
	}
	opts := aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}
	_, err = s.table.UpsertEntity(ctx, raw, &opts)
	return err
}

func (s *Store) Get(ctx context.Context, day time.Time) (Day, error) {
	var d Day
	pk, rk := s.keys.For(day)
	resp, err := s.table.GetEntity(ctx, pk, rk, nil)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(resp.Value, &d)
}
