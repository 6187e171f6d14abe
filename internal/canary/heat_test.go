package canary_test

import (
	"io"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/query"
)

// fullWriter writes nothing.
type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func birdSnapshot(e *env) *heat.Snapshot {
	s, err := heat.Load(strings.NewReader(`{"version":1,"taken":"2026-01-01T00:00:00Z","ranges":[{"from":"`+bird+`"}],"rows":[{"key":"`+bird+`"}]}`), nil)
	must(e.t, err)
	return s
}

var heatCalls = []call{
	{"heat.Check", func(e *env) []any {
		bad := func(int, time.Time) (keys.Key, error) { return badKey, badKey.Validate() }
		return results(
			third(heat.Check("t", heat.Write("write", bad, 1))),
			third(heat.Check("t", heat.Read("read", query.Prop("a b").Eq(bird), 1))),
		)
	}},
	{"heat.Load", func(*env) []any {
		return each([]string{bird, `{"version":"` + bird + `"}`, `{"version":2,"ranges":[{"from":"` + bird + `"}]}`},
			func(text string) error { return failure(heat.Load(strings.NewReader(text), nil)) })
	}},
	{"heat.Snapshot.Save", func(e *env) []any { return results(birdSnapshot(e).Save(fullWriter{}), birdSnapshot(e)) }},
	{"heat.Snapshot.Page", func(e *env) []any { return results(birdSnapshot(e).Page(fullWriter{}, nil)) }},
}

func third[A, B any](_ A, _ B, err error) error { return err }
