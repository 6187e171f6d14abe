package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/patterns/logdata"
)

// Records are written and read in one block, so that every run sends the same requests.
const (
	records    = 5000
	logs       = "logs"
	logService = "web"
	logMessage = "GET /orders/4711 served in 12 ms to 203.0.113.9 by backend 3, cache miss"
)

var logged = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func recordTime(i int) time.Time { return logged.Add(time.Duration(i) * time.Millisecond) }

// handRecord is the line that a program without azpatterns writes.
type handRecord struct {
	Time  time.Time `json:"time"`
	Level string    `json:"level,omitempty"`
	Msg   string    `json:"msg,omitempty"`
}

func newLogWriter(c *container.Client) (*logdata.Writer, error) {
	return logdata.NewWriter(c, logService, &logdata.WriterOptions{FlushBytes: logdata.MaxBlock, FlushAge: -1})
}

func openLogs(c *Clients) (*container.Client, error) { return c.Container(logs), nil }

func newLogReader(c *Clients) (*logdata.Reader, error) {
	return logdata.NewReader(c.Container(logs), logService, nil)
}

func writeRecords(ctx context.Context, c *container.Client) error {
	w, err := newLogWriter(c)
	for i := range records {
		if err != nil {
			return err
		}
		err = w.Write(ctx, logdata.Record{Time: recordTime(i), Type: "INFO", Message: logMessage})
	}
	if err == nil {
		err = w.Close(ctx)
	}
	return err
}

// logDataRows are the operations on log data in blobs. The clients of blobs are not
// accelerated, so that there is one way with azpatterns and a second one like it.
func logDataRows() []Row {
	create := func(ctx context.Context, c *Clients) error {
		_, err := c.Container(logs).Create(ctx, nil)
		if err == nil {
			_, err = c.Container(logs).NewAppendBlobClient("hand").Create(ctx, nil)
		}
		return err
	}
	return []Row{{
		Name: "logdata write", Unit: "record", Per: records, Goal: Goal{Ratio: 1, Allocs: 1.2}, Setup: create,
		Hand: func(c *Clients) (Run, error) {
			blob := c.Container(logs).NewAppendBlobClient("hand")
			return func(ctx context.Context) error {
				var lines bytes.Buffer
				e := json.NewEncoder(&lines)
				for i := range records {
					if err := e.Encode(handRecord{recordTime(i), "INFO", logMessage}); err != nil {
						return err
					}
				}
				_, err := blob.AppendBlock(ctx, streaming.NopCloser(bytes.NewReader(lines.Bytes())), nil)
				return err
			}, nil
		},
		Ours: with(openLogs, writeRecords),
	}, {
		Name: "logdata read", Unit: "record", Per: records, Goal: Goal{Ratio: 1.2, Allocs: 2.2},
		Setup: func(ctx context.Context, c *Clients) error {
			err := create(ctx, c)
			if err == nil {
				err = writeRecords(ctx, c.Container(logs))
			}
			return err
		},
		Hand: func(c *Clients) (Run, error) {
			blobs := c.Container(logs)
			pager := c.direct().Container(logs).NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: to.Ptr(logService)})
			page, err := pager.NextPage(context.Background())
			if err != nil {
				return nil, err
			}
			name := *page.Segment.BlobItems[0].Name
			return func(ctx context.Context) error { return readRecordsByHand(ctx, blobs.NewBlobClient(name)) }, nil
		},
		Ours: with(newLogReader, func(ctx context.Context, r *logdata.Reader) error {
			return wantAll(r.Query(ctx, logged, logged.Add(time.Hour), "", nil), records)
		}),
	}, {
		// By hand there is no blob: the lines are discarded.
		Name: "slog handler", Unit: "record", Per: records, Goal: Goal{Ratio: 0.65, Allocs: 1.2}, Setup: create,
		Hand: func(*Clients) (Run, error) {
			return func(ctx context.Context) error {
				logRecords(ctx, slog.NewJSONHandler(io.Discard, nil))
				return nil
			}, nil
		},
		Ours: with(openLogs, func(ctx context.Context, blobs *container.Client) error {
			w, err := newLogWriter(blobs)
			if err != nil {
				return err
			}
			h, err := logdata.NewHandler(w, nil)
			if err != nil {
				return err
			}
			logRecords(ctx, h)
			return w.Close(ctx)
		}),
	}}
}

func logRecords(ctx context.Context, h slog.Handler) {
	l := slog.New(h).With("service", logService)
	for i := range records {
		l.LogAttrs(ctx, slog.LevelInfo, logMessage, slog.Int("n", i), slog.String("path", "/orders"), slog.Duration("took", time.Second))
	}
}

// readRecordsByHand reads the records of an hour in the order of their times.
func readRecordsByHand(ctx context.Context, b *blob.Client) error {
	reply, err := b.DownloadStream(ctx, nil)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	var all []handRecord
	lines := bufio.NewScanner(reply.Body)
	for lines.Scan() {
		var r handRecord
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return err
		}
		if !r.Time.Before(logged) && r.Time.Before(logged.Add(time.Hour)) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b handRecord) int { return a.Time.Compare(b.Time) })
	return wantCount(len(all), records, lines.Err())
}
