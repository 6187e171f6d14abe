package logdata_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestTheHandlerConformsToSlogtest(t *testing.T) {
	for _, format := range []logdata.Format{logdata.JSON, logdata.Delimited} {
		c := storagetest.New(t).Container("logs")
		assert.NoError(t, assert.ErrorOf(c.Create(t.Context(), nil)))
		w := newWriter(t, c, logdata.WriterOptions{Format: format})
		h := assert.Must(logdata.NewHandler(w, nil))(t)
		started := time.Now().Add(-time.Minute)
		if err := slogtest.TestHandler(h, func() []map[string]any {
			closeWriter(t, w)
			var results []map[string]any
			r := newReader(t, c, &logdata.ReaderOptions{Format: format})
			for _, e := range assert.All(t, r.Query(t.Context(), started, time.Now().Add(time.Minute), "", nil)) {
				m := map[string]any{}
				if len(e.Attrs) > 0 {
					assert.NoError(t, json.Unmarshal(e.Attrs, &m))
				}
				m[slog.LevelKey], m[slog.MessageKey] = e.Type, e.Message
				if !e.Arrived {
					m[slog.TimeKey] = e.Time
				}
				results = append(results, m)
			}
			return results
		}); err != nil {
			t.Errorf("%s: %v", format.Name(), err)
		}
	}
}

type broken struct{}

func (broken) MarshalJSON() ([]byte, error) { panic("broken") }

type secret struct{}

func (secret) LogValue() slog.Value { return slog.StringValue("hidden") }

// nothing resolves to the zero Attr, which handlers omit.
type nothing struct{}

func (nothing) LogValue() slog.Value { return slog.Value{} }

func TestTheHandlerEncodesEveryKindOfValue(t *testing.T) {
	c := storagetest.New(t).Container("logs")
	assert.NoError(t, assert.ErrorOf(c.Create(t.Context(), nil)))
	w := newWriter(t, c, logdata.WriterOptions{})
	h := assert.Must(logdata.NewHandler(w, &logdata.HandlerOptions{Level: slog.LevelDebug, AddSource: true}))(t)
	nan := 0.0
	nan /= nan
	slog.New(h).With("who", secret{}).WithGroup("g").Debug("m\n\";",
		"n", 1, "u", uint64(2), "f", 1.5, "nan", nan, "b", true, "d", time.Second,
		"t", noon, "err", errors.New("bad"), "any", []int{1, 2}, "broken", broken{}, "chan", make(chan int), slog.Group("empty"), "", nothing{})
	closeWriter(t, w)
	es := assert.All(t, newReader(t, c, nil).Query(t.Context(), time.Now().Add(-time.Minute), time.Now().Add(time.Minute), "", nil))
	var got struct {
		Source struct{ File string }
		Who    string
		G      json.RawMessage
	}
	if len(es) != 1 || es[0].Type != "DEBUG" || es[0].Message != "m\n\";" {
		t.Fatalf("got %v", es)
	}
	assert.NoError(t, json.Unmarshal(es[0].Attrs, &got))
	const want = `{"n":1,"u":2,"f":1.5,"nan":"NaN","b":true,"d":1000000000,"t":"2014-07-31T12:00:00Z","err":"bad",` +
		`"any":[1,2],"broken":"!PANIC: broken","chan":"!ERROR: json: unsupported type: chan int"}`
	if string(got.G) != want || got.Who != "hidden" || got.Source.File == "" {
		t.Errorf("got %s", es[0].Attrs)
	}
}
