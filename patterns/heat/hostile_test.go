package heat_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/heat"
)

func TestWrongUseOfAMeterChangesNothing(t *testing.T) {
	var missing *heat.Meter
	var zero heat.Meter
	opts := azcore.ClientOptions{Transport: nothing{}}
	missing.Attach(&opts)
	zero.Attach(&opts)
	newMeter(t, nil).Attach(nil)
	if _, same := opts.Transport.(nothing); !same {
		t.Errorf("the transport is %T", opts.Transport)
	}
	if _, page := get(zero.Handler(), ""); !strings.Contains(page, "No partition was read or written") {
		t.Error(page)
	}
}

func TestNamesKeysAndLabelsAreEscapedOnThePage(t *testing.T) {
	const hostile = `<script>alert("1")</script>'"><img src=x onerror=alert(1)>`
	m := newMeter(t, &heat.Options{Label: func(key string) string { return key }})
	for i := range 2000 {
		heat.Record(m, hostile[:40], hostile, fmt.Sprint(hostile, i%3), time.Now().Add(time.Duration(i)*time.Second))
	}
	h := http.StripPrefix("/debug/heat", m.Handler())
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/heat/?k=0-2&m=<script>", nil))
	page := w.Body.String()
	for _, forbidden := range []string{"<script", "<img", "onerror=alert(1)>"} {
		if strings.Contains(page, forbidden) {
			t.Errorf("the page contains %q", forbidden)
		}
	}
	assert.Contains(t, page, "&lt;script&gt;")
	assert.Contains(t, page, `href="?m=`)
}

func TestAThousandTablesAreCountedAndTheHotOneIsNamed(t *testing.T) {
	m := newMeter(t, nil)
	start := time.Unix(1_000_000_020, 0)
	for i := range 1000 {
		heat.Record(m, fmt.Sprintf("Table%d", i), "p", "r", start)
	}
	for i := range 140_000 {
		heat.Record(m, "Table777", "p", fmt.Sprint(i), start.Add(time.Duration(i)*time.Second/2400))
	}
	s := heat.SnapshotAt(m, start.Add(time.Minute))
	assert.Equal(t, total(s, 2, entitiesWritten), 141_000, "entities")
	found := s.Findings()
	if len(found) != 1 || found[0].Kind != heat.HotPartition || found[0].Resource != "Table777" {
		t.Errorf("%v", found)
	}
}

func TestAClockThatJumpsLosesOnlyWhatItCountedInTheFuture(t *testing.T) {
	now := time.Unix(1_000_000_020, 0)
	m := newMeter(t, &heat.Options{Clock: func() time.Time { return now }})
	opts := azcore.ClientOptions{Transport: nothing{}}
	m.Attach(&opts)
	for i, jump := range []time.Duration{0, 10 * time.Hour, -10 * time.Hour, time.Minute, -30 * time.Minute} {
		now = now.Add(jump)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://account.table.core.windows.net/Orders(PartitionKey='a',RowKey='b')", nil)
		assert.NoError(t, err)
		assert.NoError(t, assert.ErrorOf(opts.Transport.Do(req)))
		// Ten hours later the first request is older than six hours; a request in the future is forgotten.
		want := []float64{1, 1, 1, 2, 3}[i]
		if got := total(m.Snapshot(), 0, entitiesRead); i < 4 && got != want {
			t.Errorf("after %d jumps: %v entities, want %v", i, got, want)
		}
	}
	now = now.Add(time.Hour)
	assert.Equal(t, total(m.Snapshot(), 0, entitiesRead), 3, "at the end", "entities")
}

// counted counts how often it is closed.
type counted struct {
	io.Reader
	closed int
}

func (c *counted) Close() error { c.closed++; return nil }

func TestAPageThatIsClosedTwiceClosesNoOtherPage(t *testing.T) {
	m := newMeter(t, nil)
	var body *counted
	opts := azcore.ClientOptions{Transport: transportFunc(func(*http.Request) (*http.Response, error) {
		body = &counted{Reader: strings.NewReader(`{"value":[{"a":1},{"a":2}]}`)}
		return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
	})}
	m.Attach(&opts)
	query := func() (*http.Response, *counted) {
		req := assert.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://account.table.core.windows.net/Orders()", nil))(t)
		resp := assert.Must(opts.Transport.Do(req))(t)
		return resp, body
	}
	for range 200 {
		first, _ := query()
		_, _ = io.Copy(io.Discard, first.Body)
		_ = first.Body.Close()
		_, second := query()
		_ = first.Body.Close()
		assert.Equal(assert.Now(t), second.closed, 0, "the second page was closed with the first")
	}
	assert.Equal(t, total(m.Snapshot(), 0, entitiesRead), 400, "entities")
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) Do(req *http.Request) (*http.Response, error) { return f(req) }

func TestSnapshotsOfDifferentClocksAndEmptyOnesAreMerged(t *testing.T) {
	early, late := time.Unix(1_000_000_020, 0), time.Unix(1_000_000_020, 0).Add(3*time.Hour)
	var all []*heat.Snapshot
	for _, at := range []time.Time{early, late} {
		m := newMeter(t, nil)
		heat.Record(m, "Orders", "p", "r", at)
		all = append(all, heat.SnapshotAt(m, at))
	}
	sum := heat.Merge(append(all, nil, &heat.Snapshot{})...)
	if got := total(sum, 0, entitiesWritten); got != 2 || !sum.Taken.Equal(late) || len(sum.Partitions) != 1 || sum.Partitions[0].Entities != 2 {
		t.Errorf("%v entities, %+v", got, sum.Partitions)
	}
	assert.Equal(t, total(heat.Merge(&heat.Snapshot{}), 0, entitiesWritten), 0, "entities")
}
