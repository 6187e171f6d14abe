package canary_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/logdata"
)

// document is an entity with large fields.
type document struct {
	PartitionKey, RowKey string
	Name                 string
	Text                 string             `table:",blob"`
	Quoting              *quoting           `table:",blob"`
	Video                largeentity.Stream `table:",blob"`
}

// brokenReader is a source whose error quotes what was read.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, fmt.Errorf("after %s", bird) }

func documents(e *env) *largeentity.Table[document] {
	t, err := largeentity.New(e.people.Client(), e.bin, &largeentity.Options[document]{Threshold: largeentity.Always, Outbox: e.outbox})
	must(e.t, err)
	return t
}

func brokenOutbox(e *env) *largeentity.Table[document] {
	t, err := largeentity.New(e.people.Client(), e.bin, &largeentity.Options[document]{Threshold: largeentity.Always, Outbox: quotingQueue{e.outbox}})
	must(e.t, err)
	return t
}

func somePapers() []*document {
	bad := quoting(bird)
	return []*document{
		{PartitionKey: bird, RowKey: "paper", Name: bird, Text: bird},
		{PartitionKey: bird, RowKey: "paper", Name: bird, Text: bird}, // exists
		{PartitionKey: bird, RowKey: bird + "/", Text: bird},
		{PartitionKey: bird, RowKey: "quoting", Quoting: &bad},
		{PartitionKey: bird, RowKey: "reader", Video: largeentity.NewStream(brokenReader{})},
		{PartitionKey: bird, RowKey: "video", Video: largeentity.NewStream(strings.NewReader(bird))},
		{PartitionKey: bird, RowKey: "utf", Name: bird + "\xff", Text: bird + "\xff"},
		nil,
	}
}

var papers = []keys.Key{{Partition: bird, Row: "paper"}, {Partition: bird, Row: "video"}, badKey, {Partition: bird, Row: "missing"}, {Partition: bird, Row: "foreign"}}

var largeCalls = []call{
	{"largeentity.New", func(e *env) []any {
		return results(failure(largeentity.New[person](e.people.Client(), e.bin, nil)), failure(largeentity.New(e.people.Client(), e.bin, &largeentity.Options[document]{Prefix: bird + "\x01"})))
	}},
	{"largeentity.Table.Create", func(e *env) []any { return results(documents(e).Create(e.t.Context())) }},
	{"largeentity.Table.Insert", func(e *env) []any {
		return append(each(somePapers(), func(d *document) error { return failure(documents(e).Insert(e.t.Context(), d)) }), failure(brokenOutbox(e).Insert(e.t.Context(), somePapers()[0])))
	}},
	{"largeentity.Table.Get", func(e *env) []any {
		return each(papers, func(k keys.Key) error { return failure(documents(e).Get(e.t.Context(), k)) })
	}},
	{"largeentity.Table.GetMeta", func(e *env) []any {
		return each(papers, func(k keys.Key) error { return failure(documents(e).GetMeta(e.t.Context(), k)) })
	}},
	{"largeentity.Table.Load", func(e *env) []any {
		return each(papers, func(k keys.Key) error {
			item, err := documents(e).GetMeta(e.t.Context(), k)
			if err != nil {
				return err
			}
			return failure(documents(e).Load(e.t.Context(), item, "Text"))
		})
	}},
	{"largeentity.Table.FromRow", func(e *env) []any {
		return each([]string{"{" + bird, bird, `{"Text":{"name":"` + bird + `"}}`}, func(text string) error {
			row, err := documents(e).Table().Do(e.t.Context(), patterns.UpsertOp(somePapers()[0], patterns.Replace).With("azp_blobs", text))
			if err != nil {
				return err
			}
			return failure(documents(e).FromRow(row))
		})
	}},
	{"largeentity.Stream.Open", func(e *env) []any {
		item, err := documents(e).Get(e.t.Context(), papers[1])
		found := results(err, failure(largeentity.Stream{}.Open(e.t.Context())))
		body, err := item.Value.Video.Open(e.t.Context())
		if err == nil {
			_, err = io.ReadAll(body)
		}
		return append(found, err)
	}},
	{"largeentity.Table.Replace", func(e *env) []any {
		return each(somePapers()[:7], func(d *document) error {
			return failure(documents(e).Replace(e.t.Context(), largeentity.Item[document]{Key: papers[0], ETag: etag, Value: *d}))
		})
	}},
	{"largeentity.Table.Update", func(e *env) []any {
		return each(papers, func(k keys.Key) error {
			return failure(documents(e).Update(e.t.Context(), k, func(d *document) error { d.Text += digits; return nil }))
		})
	}},
	{"largeentity.Table.UpdateMeta", func(e *env) []any {
		return each(papers, func(k keys.Key) error {
			return failure(documents(e).UpdateMeta(e.t.Context(), k, func(d *document) error { d.Name = "\xff"; return nil }))
		})
	}},
	{"largeentity.Table.Delete", func(e *env) []any {
		return each(papers, func(k keys.Key) error { return documents(e).Delete(e.t.Context(), k, etag) })
	}},
	{"largeentity.Table.Handle", func(e *env) []any {
		return results(failure(documents(e).Handle(e.t.Context(), patterns.OutboxMessage{Partition: bird, Row: bird, ID: bird, Reserved: []patterns.RowRef{{View: bird, Partition: "bin", Row: bird}}})))
	}},
	{"largeentity.Table.Sweep", func(e *env) []any {
		var found []any
		report, err := documents(e).Sweep(e.t.Context(), &largeentity.SweepOptions{Progress: func(r largeentity.SweepReport) { found = append(found, r) }})
		return append(found, report, err, failure(documents(e).Sweep(e.t.Context(), &largeentity.SweepOptions{Grace: 1})))
	}},
}

// logWriter returns a writer whose container is reached through the network.
func logWriter(e *env) *logdata.Writer {
	w, err := logdata.NewWriter(e.bin, "service", nil)
	must(e.t, err)
	return w
}

var records = []logdata.Record{
	{Time: someTime, Type: "INFO", Message: bird, Attrs: []byte(`{"a":"` + bird + `"}`)},
	{Time: someTime, Type: bird + "\xff", Message: bird + "\xff"},
	{Time: farTime, Type: "INFO", Message: bird},
	{Time: someTime, Type: "INFO", Attrs: []byte(`{"a":` + bird)},
	{Time: someTime, Type: "INFO", Message: repeated(5 << 20)},
}

var logCalls = []call{
	{"logdata.NewWriter", func(e *env) []any {
		return results(failure(logdata.NewWriter(e.bin, bird+"/\x01", nil)), failure(logdata.NewWriter(nil, "service", nil)))
	}},
	{"logdata.NewReader", func(e *env) []any { return results(failure(logdata.NewReader(e.bin, bird+"/\x01", nil))) }},
	{"logdata.NewHandler", func(*env) []any { return results(failure(logdata.NewHandler(nil, nil))) }},
	{"logdata.NewAnalyticsReader", func(e *env) []any { return results(failure(logdata.NewAnalyticsReader(e.bin, bird, nil))) }},
	{"logdata.Writer.Write", func(e *env) []any {
		w := logWriter(e)
		defer w.Close(e.t.Context())
		return each(records, func(r logdata.Record) error { return w.Write(e.t.Context(), r) })
	}},
	{"logdata.Writer.Flush", func(e *env) []any {
		w := logWriter(e)
		defer w.Close(e.t.Context())
		return results(w.Write(e.t.Context(), records[0]), w.Flush(e.t.Context()))
	}},
	{"logdata.Writer.Close", func(e *env) []any {
		w := logWriter(e)
		return results(w.Write(e.t.Context(), records[0]), w.Close(e.t.Context()), w.Close(e.t.Context()), w.Write(e.t.Context(), records[0]))
	}},
	{"logdata.Handler.Handle", func(e *env) []any {
		w := logWriter(e)
		h, err := logdata.NewHandler(w, nil)
		must(e.t, err)
		first := h.Handle(e.t.Context(), slog.NewRecord(someTime, slog.LevelInfo, bird, 0))
		closed := w.Close(e.t.Context())
		return results(first, closed, h.Handle(e.t.Context(), slog.NewRecord(farTime, slog.LevelInfo, bird, 0)))
	}},
	{"logdata.Reader.Read", func(e *env) []any {
		name := "service/2031/07/08/0900/x-000000.log"
		_, _ = e.bin.NewBlockBlobClient(name).UploadBuffer(e.t.Context(), []byte(bird+" "+bird+"\n"+day+" \""+bird), nil)
		r, err := logdata.NewReader(e.bin, "service", nil)
		must(e.t, err)
		return results(failures(r.Read(e.t.Context(), someTime.Add(-1e13), someTime.Add(1e13), nil)), failures(r.Read(e.t.Context(), someTime, farTime, nil)),
			failures(r.Read(e.t.Context(), someTime.Add(-1e13), someTime.Add(1e13), &logdata.ReadOptions{Cursor: bird})))
	}},
	{"logdata.AnalyticsReader.Read", func(e *env) []any {
		name := "blob/2031/07/08/0900/000000.log"
		_, _ = e.bin.NewBlockBlobClient(name).UploadBuffer(e.t.Context(), bytes.Repeat([]byte("1.0;"+bird+"\n"), 3), nil)
		r, err := logdata.NewAnalyticsReader(e.bin, "blob", nil)
		must(e.t, err)
		return results(failures(r.Read(e.t.Context(), someTime.Add(-1e13), someTime.Add(1e13), nil)))
	}},
	{"logdata.ParseAnalytics", func(*env) []any {
		return each([]string{bird, "1.0;" + bird + ";GetBlob", "2.0;" + day + ";" + strings.Repeat(bird+";", 60), "1.0;" + day + ";GetBlob;OK;" + strings.Repeat(digits+"x;", 60)},
			func(line string) error { return failure(logdata.ParseAnalytics([]byte(line))) })
	}},
}
