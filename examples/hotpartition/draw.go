package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// draw writes the heat map of each layout to a folder: before.html for the first, and
// after.html for the last. They show six hours with an event every two seconds. The page
// mixed.html shows an hour of a program with several tables.
func draw(ctx context.Context, folder string) error {
	all, err := layouts()
	if err != nil {
		return err
	}
	for name, l := range map[string]layout{"before.html": all[0], "after.html": all[len(all)-1]} {
		err := page(filepath.Join(folder, name), func(service *aztables.ServiceClient, now *time.Time) error {
			table, err := open(ctx, service.NewClient("Events"), l)
			if err == nil {
				err = replay(ctx, table, now)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return page(filepath.Join(folder, "mixed.html"), func(service *aztables.ServiceClient, now *time.Time) error {
		return mixed(ctx, service, now)
	})
}

// page writes the heat map of what load does to an account. load sets the time.
func page(file string, load func(service *aztables.ServiceClient, now *time.Time) error) error {
	now := start
	meter, err := heat.NewMeter(&heat.Options{
		Clock: func() time.Time { return now },
		Label: func(key string) string { return key }, // no one's data
	})
	if err != nil {
		return err
	}
	var opts aztables.ClientOptions
	meter.Attach(&opts.ClientOptions)
	patterns.Accelerate(&opts.ClientOptions)
	if err := load(storagetest.Start(nil).TablesWith(&opts), &now); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := meter.Snapshot().Page(&text, nil); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}

// mixed is an hour of a program: orders of customers, of which some are looked at, a catalog that is
// read, a log whose keys are times, and in the second half an import that writes one partition.
func mixed(ctx context.Context, service *aztables.ServiceClient, now *time.Time) error {
	type row struct{ PartitionKey, RowKey string }
	tables := map[string]*patterns.Table[row]{}
	for _, name := range []string{"Orders", "Catalog", "Log", "Imports"} {
		t, err := patterns.NewTable[row](service.NewClient(name), nil)
		if err == nil {
			err = t.Create(ctx)
		}
		if err != nil {
			return err
		}
		tables[name] = t
	}
	random := rand.New(rand.NewPCG(1, 2))
	write := func(table, partition, key string) error {
		_, err := tables[table].Upsert(ctx, &row{partition, key}, patterns.Replace)
		return err
	}
	read := func(table, partition, key string) error {
		_, err := tables[table].Get(ctx, keys.Key{Partition: partition, Row: key})
		if errors.Is(err, patterns.ErrNotFound) { // costs as much
			return nil
		}
		return err
	}
	for i := range int(time.Hour / time.Second) {
		*now = start.Add(time.Duration(i) * time.Second)
		customer := func() string { return fmt.Sprintf("customer %03d", random.IntN(400)) }
		order := fmt.Sprintf("%05d", i)
		err := errors.Join(
			write("Orders", customer(), order), write("Orders", customer(), order), read("Orders", customer(), order),
			read("Catalog", fmt.Sprintf("group %02d", random.IntN(20)), "00"), read("Catalog", "group 07", "offer"),
			write("Log", now.Format("2006-01-02T15:04"), order))
		for n := range 8 {
			if i > 1_800 && i < 3_000 {
				err = errors.Join(err, write("Imports", "2014-07", fmt.Sprint(i, n)))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replay writes the events of six hours. It sets now to the time of each.
func replay(ctx context.Context, table *patterns.Table[Event], now *time.Time) error {
	const every = 2 * time.Second
	for i := range int(6 * time.Hour / every) {
		*now = start.Add(time.Duration(i) * every)
		e := Event{Employee: fmt.Sprintf("%06d", i%40), ID: i, At: *now, Text: "signed in"}
		if _, err := table.Insert(ctx, &e); err != nil {
			return err
		}
	}
	return nil
}
