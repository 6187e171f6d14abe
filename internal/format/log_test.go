package format_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/logtail"
	"github.com/azpatterns/azpatterns/query"
)

var logGroups = []group{
	{name: "log-tail", write: writeTail, read: readTail},
	{name: "log-blob", write: writeLog, read: readLog},
	{name: "heat", write: writeHeat, read: readHeat},
	{name: "period", write: writePeriod, read: readPeriod},
}

type expense struct {
	What  string
	Filed time.Time
}

func (w *world) tail(buckets int) *logtail.Log[expense] {
	w.Helper()
	log, err := logtail.New(w.table(fmt.Sprint("tail", buckets)), &logtail.Options[expense]{
		Buckets: buckets, Time: func(e *expense) time.Time { return e.Filed },
	})
	w.must(err)
	return log
}

var tailBuckets = []int{1, 4}

func writeTail(w *world) {
	for _, buckets := range tailBuckets {
		log := w.tail(buckets)
		_, err := log.Append(w.Context(), "000123", &expense{"taxi", noon})
		w.must(err)
		_, err = log.AppendAll(w.Context(), "000123", []expense{{"hotel", noon.Add(time.Hour)}, {"train", noon.Add(2 * time.Hour)}})
		w.must(err)
	}
}

func readTail(w *world) {
	for _, buckets := range tailBuckets {
		log := w.tail(buckets)
		_, err := log.Append(w.Context(), "000123", &expense{"lunch", noon.Add(90 * time.Minute)})
		w.must(err)
		var found []string
		for e, err := range log.Range(w.Context(), "000123", noon.Add(time.Minute), noon.Add(24*time.Hour)) {
			w.must(err)
			found = append(found, e.Value.What)
		}
		w.equal(found, []string{"train", "lunch", "hotel"})
	}
}

var logFormats = []logdata.Format{logdata.JSON, logdata.Delimited}

func writeLog(w *world) {
	for _, format := range logFormats {
		log, err := logdata.NewWriter(w.container("logs"), format.Name(), &logdata.WriterOptions{Name: "host1", Format: format})
		w.must(err)
		for minute := range 3 {
			w.must(log.Write(w.Context(), logdata.Record{
				Time: noon.Add(time.Duration(minute) * time.Minute), Type: "INFO", Message: "a;b \"c\"\nd", Attrs: []byte(`{"n":1}`),
			}))
		}
		w.must(log.Close(w.Context()))
	}
}

func (w *world) logEntries(format logdata.Format, cursor string) (all []logdata.Entry) {
	w.Helper()
	log, err := logdata.NewReader(w.container("logs"), format.Name(), &logdata.ReaderOptions{Format: format})
	w.must(err)
	for e, err := range log.Query(w.Context(), noon, noon.Add(time.Hour), cursor, nil) {
		w.must(err)
		all = append(all, e)
	}
	return all
}

func readLog(w *world) {
	for _, format := range logFormats {
		all := w.logEntries(format, "")
		w.equal(len(all), 3)
		for _, e := range all {
			w.equal(e.Message, "a;b \"c\"\nd")
			w.equal(string(e.Attrs), `{"n":1}`)
			w.equal(e.Type, "INFO")
		}
	}
	writeLog(w) // further blobs of the same writer
	w.equal(len(w.logEntries(logdata.JSON, "")), 6)
}

func writeHeat(w *world) {
	meter, err := heat.NewMeter(nil)
	w.must(err)
	w.table("people")
	table, err := patterns.NewTable[employee](w.attached(meter.Attach).NewClient("people"), nil)
	w.must(err)
	for i := range 20 {
		_, err := table.Upsert(w.Context(), newEmployee("1", fmt.Sprint(i), "Oslo"), patterns.Replace)
		w.must(err)
	}
	for range table.Query(w.Context(), query.Prop("City").Eq("Oslo"), nil) {
	}
	time.Sleep(time.Hour)
	var text bytes.Buffer
	w.must(meter.Snapshot().Save(&text))
	w.texts["snapshot"] = text.String()
}

func readHeat(w *world) {
	s, err := heat.Load(bytes.NewReader([]byte(w.texts["snapshot"])), nil)
	w.must(err)
	w.equal(len(s.Rows) > 0 && len(s.Partitions) > 0 && len(s.Ranges) > 0, true)
	w.equal(s.Resources["tpeople"].Written, 20.0)
	merged := heat.Merge(s, s)
	w.equal(merged.Resources["tpeople"].Written, 40.0)
	var text bytes.Buffer
	w.must(s.Save(&text))
	w.equal(text.String(), w.texts["snapshot"])
}

func (w *world) periods() *highvolumedelete.Tables[expense] {
	w.Helper()
	tables, err := highvolumedelete.New(w.Tables(), "expenses", highvolumedelete.Month, &highvolumedelete.Options[expense]{
		Time: func(e *expense) time.Time { return e.Filed }, Keep: 365 * 24 * time.Hour,
		Table: patterns.TableOptions[expense]{Key: func(e *expense) (keys.Key, error) { return keys.Key{Partition: "p", Row: e.What}, nil }},
	})
	w.must(err)
	return tables
}

func writePeriod(w *world) {
	for month := range 3 {
		_, err := w.periods().Insert(w.Context(), &expense{"taxi", time.Date(2000, time.Month(1+month), 3, 0, 0, 0, 0, time.UTC)})
		w.must(err)
	}
}

func readPeriod(w *world) {
	n := 0
	for _, err := range w.periods().Query(w.Context(), time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2000, 3, 1, 0, 0, 0, 0, time.UTC), partition("p"), nil) {
		w.must(err)
		n++
	}
	w.equal(n, 2)
}
