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
	"iter"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// write collects records in memory, and after each 600 appends them to the blob of their hour and updates its metadata.
// Each process has a writer. By default it flushes every two seconds; here only when Flush is called.
func write(ctx context.Context, logs *container.Client, records iter.Seq[logdata.Record]) error {
	writer, err := logdata.NewWriter(logs, "web", &logdata.WriterOptions{FlushAge: -1})
	if err != nil {
		return err
	}
	n := 0
	for r := range records {
		if err := writer.Write(ctx, r); err != nil {
			return err
		}
		if n++; n%600 == 0 {
			if err := writer.Flush(ctx); err != nil {
				return err
			}
		}
	}
	return writer.Close(ctx)
}

// find returns the records of a type between two times. One request lists the blobs of each hour. Another reads the part
// of a blob that contains such records; if its metadata shows that it has none, it is not read.
func find(ctx context.Context, logs *container.Client, kind string, from, to time.Time) (found []string, stats logdata.Stats, err error) {
	reader, err := logdata.NewReader(logs, "web", nil)
	if err != nil {
		return nil, stats, err
	}
	for e, err := range reader.Query(ctx, from, to, "", &logdata.QueryOptions{Types: []string{kind}, Stats: &stats}) {
		if err != nil {
			return nil, stats, err
		}
		found = append(found, e.Time.Format(time.TimeOnly)+" "+e.Message)
	}
	return found, stats, nil
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.Container by
	// container.NewClient(url, credential, nil), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	logs := acct.Container("logs")
	if _, err := logs.Create(ctx, nil); err != nil {
		log.Fatal(err)
	}
	start := time.Date(2014, 7, 31, 14, 0, 0, 0, time.UTC)
	twoHours := func(yield func(logdata.Record) bool) {
		for second := range 2 * 60 * 60 {
			r := logdata.Record{Time: start.Add(time.Duration(second) * time.Second), Type: "INFO", Message: "served"}
			if second%600 == 300 {
				r.Type, r.Message = "ERROR", "disk full"
			}
			if !yield(r) {
				return
			}
		}
	}
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"write 7,200 records in 12 flushes", func() (any, error) { return nil, write(ctx, logs, twoHours) }},
		{"find the errors of two minutes", func() (any, error) {
			found, stats, err := find(ctx, logs, "ERROR", start.Add(64*time.Minute), start.Add(66*time.Minute))
			return fmt.Sprintf("%v in %d blob, %d lines read", found, stats.Read, stats.Lines), err
		}},
		{"find the warnings of two hours", func() (any, error) {
			found, _, err := find(ctx, logs, "WARN", start, start.Add(2*time.Hour))
			return fmt.Sprint(len(found), " warnings"), err
		}},
	} {
		acct.ResetLog()
		result, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		counts := map[string]int{}
		for _, op := range acct.Log().Ops() {
			counts[op]++
		}
		fmt.Printf("%-42s requests: %d %v\n", step.name, len(acct.Log()), counts)
		if result != nil {
			fmt.Println(" ", result)
		}
	}
}
