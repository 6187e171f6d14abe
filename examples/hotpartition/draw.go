package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// draw writes the heat map of each layout to a folder: before.html for the first, and
// after.html for the last. They show six hours with an event every two seconds.
func draw(ctx context.Context, folder string) error {
	all, err := layouts()
	if err != nil {
		return err
	}
	for name, l := range map[string]layout{"before.html": all[0], "after.html": all[len(all)-1]} {
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
		table, err := open(ctx, storagetest.Start(nil).TablesWith(&opts).NewClient("Events"), l)
		if err == nil {
			err = replay(ctx, table, &now)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		var page bytes.Buffer
		if err := meter.Snapshot().Page(&page, nil); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), page.Bytes(), 0o644); err != nil {
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
