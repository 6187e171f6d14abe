package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/patterns/logdata"
)

// printLogs prints the records of a level, those of both hosts in the order of their
// times, and returns what it read.
func printLogs(ctx context.Context, out io.Writer, logs *container.Client, from, to time.Time, level string) (logdata.Stats, error) {
	var stats logdata.Stats
	r, err := logdata.NewReader(logs, "web", nil)
	if err != nil {
		return stats, err
	}
	options := &logdata.QueryOptions{Types: []string{level}, Stats: &stats}
	for e, err := range r.Query(ctx, from, to, "", options) {
		if err != nil {
			return stats, err
		}
		fmt.Fprintf(out, "%s %s %s %s\n", e.Time.Format(time.TimeOnly), e.Type, e.Message, e.Attrs)
	}
	return stats, nil
}
