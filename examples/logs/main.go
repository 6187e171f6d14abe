// Command logs stores the log of a service in blobs and reads it by time. Two simulated
// hosts log a day through slog, to an account inside this process. Then the program prints
// the errors of a few minutes, and the requests and bytes that it took to find them.
//
//	go run ./examples/logs
//	go run ./examples/logs -from 03:30 -to 03:40 -level WARN
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"github.com/azpatterns/azpatterns/examples/internal/cmdline"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

const about = `
logs stores the log of a service in blobs and reads it by time. Two simulated hosts log a
day through slog, to an account inside this process. Then the program prints the records
of one level between two times of the day, and the requests and bytes that it took to find
them.`

func main() {
	from := flag.String("from", "15:04", "print from this `time` of the day")
	to := flag.String("to", "15:06", "up to this `time`, at most 24:00")
	level := flag.String("level", "ERROR", "of this `level`: INFO, WARN or ERROR")
	cmdline.Parse(about)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, storagetest.Start(nil), *from, *to, *level); err != nil {
		fmt.Fprintln(os.Stderr, "logs:", err)
		os.Exit(1)
	}
}

// today is the simulated day.
var today = time.Date(2014, 7, 31, 0, 0, 0, 0, time.UTC)

func run(ctx context.Context, out io.Writer, account *storagetest.Account, from, to, level string) error {
	begin, err := clock(from)
	if err != nil {
		return err
	}
	end, err := clock(to)
	if err != nil {
		return err
	}
	if !begin.Before(end) {
		return fmt.Errorf("%s is not before %s", from, to)
	}
	var severity slog.Level
	if err := severity.UnmarshalText([]byte(level)); err != nil {
		return fmt.Errorf("%q is not a level like ERROR", level)
	}
	logs := account.Container("logs")
	if _, err := logs.Create(ctx, nil); err != nil {
		return err
	}
	account.ResetLog()
	records := 0
	for _, host := range []string{"web-1", "web-2"} {
		n, err := serve(ctx, logs, host)
		if err != nil {
			return err
		}
		records += n
	}
	day := written(account.Log())
	fmt.Fprintf(out, "the service logged %d records: %d requests, %d bytes in %d blobs\n\n", records, day.requests, day.bytes, day.blobs)

	account.ResetLog()
	stats, err := printLogs(ctx, out, logs, begin, end, severity.String())
	if err != nil {
		return err
	}
	n := len(account.Log())
	plural := "s"
	if n == 1 {
		plural = ""
	}
	fmt.Fprintf(out, "\nfound %d: %d request%s, %d bytes of %d of the %d blobs\n",
		stats.Matched, n, plural, stats.Bytes, stats.Read, day.blobs)
	return nil
}

// clock parses a time of today.
func clock(text string) (time.Time, error) {
	if text == "24:00" {
		return today.AddDate(0, 0, 1), nil
	}
	t, err := time.Parse("15:04", text)
	if err != nil {
		return t, fmt.Errorf("%q is not a time like 15:04", text)
	}
	return today.Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute), nil
}

// volume counts what was written.
type volume struct {
	requests, blobs int
	bytes           int64
}

func written(log storagetest.Log) volume {
	v := volume{requests: len(log), blobs: log.Count("Blob.Put")}
	for _, q := range log.Only("Blob.Append") {
		v.bytes += q.RequestBytes
	}
	return v
}
