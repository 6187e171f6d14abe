// Command logdata stores log records in blobs and finds the errors of a minute: the remedy for the log data
// anti-pattern.
//
// Problem: as rows, log records are written one by one. With the time as partition key all writes go to one partition;
// with the source as partition key, a search by time reads every partition.
//
// Layout: records are collected and appended to blobs, one for each writer and hour. The name of a blob contains the
// hour, its metadata the times and types of its records, so that a search reads only the blobs that it needs.
//
//	name      web/2014/07/31/1500/5qk3x2rtfbm7a-000000.log
//	metadata  StartTime, EndTime, LogType=ERROR,INFO
//	content   a JSON object in each line
//
// Use it for large amounts of records that are searched by time. Records that were not flushed are lost if the process
// dies, unless logdata.WriterOptions.Sync is set. To log through slog, see logdata.NewHandler.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	ctx := context.Background()
	// An account in this process, which logs its requests. For a real one, replace acct.Container by
	// container.NewClient(url, credential, nil), and remove what else uses acct.
	acct := storagetest.Start(nil)
	logs := acct.Container("logs")
	show := func(step string, result ...any) {
		counts := map[string]int{}
		for _, op := range acct.Log().Ops() {
			counts[op]++
		}
		fmt.Fprintf(w, "%-42s requests: %d %v\n", step, len(acct.Log()), counts)
		if len(result) > 0 {
			fmt.Fprintln(w, append([]any{" "}, result...)...)
		}
		acct.ResetLog()
	}
	if _, err := logs.Create(ctx, nil); err != nil {
		return err
	}
	acct.ResetLog()

	// 1. Each process has a writer. By default it flushes every two seconds; here only when Flush is called.
	writer, err := logdata.NewWriter(logs, "web", &logdata.WriterOptions{FlushAge: -1})
	if err != nil {
		return err
	}

	// 2. Write the records of two hours: they are collected in memory. Each flush appends them to the blob of their hour
	// and updates its metadata.
	start := time.Date(2014, 7, 31, 14, 0, 0, 0, time.UTC)
	for second := range 2 * 60 * 60 {
		r := logdata.Record{Time: start.Add(time.Duration(second) * time.Second), Type: "INFO", Message: "served"}
		if second%600 == 300 {
			r.Type, r.Message = "ERROR", "disk full"
		}
		if err := writer.Write(ctx, r); err != nil {
			return err
		}
		if second%600 == 599 {
			if err := writer.Flush(ctx); err != nil {
				return err
			}
		}
	}
	if err := writer.Close(ctx); err != nil {
		return err
	}
	show("write 7,200 records in 12 flushes")

	// 3. Find the errors of some minutes: one request lists the blobs of the hour, and one reads the part of the blob that
	// contains them.
	reader, err := logdata.NewReader(logs, "web", nil)
	if err != nil {
		return err
	}
	var stats logdata.Stats
	var found []string
	opts := &logdata.ReadOptions{Types: []string{"ERROR"}, Stats: &stats}
	for e, err := range reader.Read(ctx, start.Add(64*time.Minute), start.Add(66*time.Minute), opts) {
		if err != nil {
			return err
		}
		found = append(found, e.Time.Format(time.TimeOnly)+" "+e.Message)
	}
	show("find the errors of two minutes", found, "in", stats.Read, "blob,", stats.Lines, "lines read")

	// 4. Find the warnings: the metadata shows that no blob contains one, so none is read.
	found = nil
	opts = &logdata.ReadOptions{Types: []string{"WARN"}}
	for e, err := range reader.Read(ctx, start, start.Add(2*time.Hour), opts) {
		if err != nil {
			return err
		}
		found = append(found, e.Message)
	}
	show("find the warnings of two hours", len(found), "warnings")
	return nil
}
