package heat_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/heat"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// clocked returns a meter whose time is *at.
func clocked(t *testing.T, at *time.Time) *heat.Meter {
	return newMeter(t, &heat.Options{Clock: func() time.Time { return *at }})
}

// attachedTo returns a transport that m counts.
func attachedTo(m *heat.Meter, inner policy.Transporter) policy.Transporter {
	o := azcore.ClientOptions{Transport: inner}
	m.Attach(&o)
	return o.Transport
}

// dialing opens a connection for each request.
type dialing struct{}

func (dialing) Do(req *http.Request) (*http.Response, error) {
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil {
		conn, other := net.Pipe()
		_ = other.Close()
		trace.GotConn(httptrace.GotConnInfo{Conn: conn})
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

// minutes returns the entities of each minute, relative to noon.
func minutes(s *heat.Snapshot) map[int64]float64 {
	all := map[int64]float64{}
	for _, r := range s.Ranges {
		for _, step := range r.Steps[0] {
			all[int64(step[0])-noon.Unix()/60] += step[1] + step[2]
		}
	}
	return all
}

func TestEveryRequestIsDrawnInItsMinute(t *testing.T) {
	at := noon
	m := clocked(t, &at)
	read := func(n int) {
		for i := range n {
			heat.Record(m, "Orders", "p", fmt.Sprint(i), at)
		}
	}
	read(600)
	at = noon.Add(3*time.Hour + 30*time.Second)
	read(1)
	heat.Record(m, "Orders", "p", "late", at.Add(-time.Minute)) // ended after a later one
	got := minutes(m.Snapshot())
	assert.Equal(t, len(got), 3)
	for minute, want := range map[int64]float64{0: 600, 180: 1, 179: 1} {
		assert.Equal(t, got[minute], want, "minute", minute)
	}
	m.Snapshot()
	at = at.Add(10 * time.Second)
	read(5)
	assert.Equal(t, minutes(m.Snapshot())[180], 6)
}

// A page that takes long is drawn when it was requested.
func TestALongRequestIsDrawnInTheMinuteInWhichItWasMade(t *testing.T) {
	at := noon
	m := clocked(t, &at)
	client := harness.Open(t, "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=a2V5;EndpointSuffix=core.windows.net", "Orders", false,
		attachedTo(m, transportFunc(func(*http.Request) (*http.Response, error) {
			at = at.Add(5 * time.Minute)
			return nil, fmt.Errorf("no reply")
		})))
	assert.MayFail(client.GetEntity(t.Context(), "p", "r", nil))
	requests := map[int64]float64{}
	for _, r := range m.Snapshot().Ranges {
		for _, step := range r.Steps[0] {
			requests[int64(step[0])-noon.Unix()/60] += step[3]
		}
	}
	if requests[0] != 1 {
		t.Errorf("requests by minute: %v", requests)
	}
}

// Check reports the rate that it was asked for.
func TestCheckReportsTheRateThatWasAsked(t *testing.T) {
	_, found, err := heat.Check("Log", heat.Write("append", func(_ int, at time.Time) (keys.Key, error) {
		ticks, err := keys.Ticks(at)
		return keys.Key{Partition: ticks, Row: "r"}, err
	}, 2500))
	assert.NoError(t, err)
	if len(found) != 1 || found[0].Kind != heat.AppendOnly {
		t.Fatalf("found %v", found)
	}
	for _, f := range found[0].Figures {
		if f.Name == "entities/s" && (f.Value < 2490 || f.Value > 2510) {
			t.Errorf("%v entities/s, of 2,500", f.Value)
		}
	}
}

func TestPeaksAndConnectionsOfLongAgoAreForgotten(t *testing.T) {
	at := noon
	m := clocked(t, &at)
	for i := range 2_000 * 60 {
		heat.Record(m, "Orders", "hot", fmt.Sprint(i%100), at)
	}
	transport := attachedTo(m, dialing{})
	for i := range 64 * 40 {
		req := assert.Must(http.NewRequest(http.MethodGet, fmt.Sprintf("https://a.table.core.windows.net/Orders(PartitionKey='p',RowKey='%d')", i), nil))(t)
		assert.Must(transport.Do(req))(t)
	}
	kinds := func() (all []heat.Kind) {
		for _, f := range m.Findings() {
			all = append(all, f.Kind)
		}
		return all
	}
	assert.EqualSlices(t, kinds(), []heat.Kind{heat.Churn, heat.HotPartition})
	for day := range 2 * 24 {
		at = noon.Add(time.Duration(day) * time.Hour)
		heat.Record(m, "Orders", "hot", "r", at)
	}
	assert.EqualSlices(t, kinds(), nil, "two days later")
	if s := m.Snapshot(); s.Partitions[0].Peak > 1 {
		t.Errorf("%+v", s.Partitions[0])
	}
	idle := clocked(t, &at)
	for i := range 2_000 * 60 {
		heat.Record(idle, "Orders", "hot", fmt.Sprint(i%100), at)
	}
	at = at.Add(29 * 24 * time.Hour)
	heat.Record(idle, "Orders", "hot", "r", at)
	assert.Equal(t, len(idle.Findings()), 0, "findings after 29 idle days")
}

var tableNames = regexp.MustCompile(`<text class="name"[^>]* y="(\d+)"[^>]*>([^<]+)<`)

func TestEveryTableIsNamed(t *testing.T) {
	at := noon
	m := clocked(t, &at)
	for minute := range 20 {
		at = noon.Add(time.Duration(minute) * time.Minute)
		for i := range 20_000 {
			heat.Record(m, "Orders", fmt.Sprintf("customer_%05d", i%5_000), "r", at)
		}
		for i := range 12 {
			heat.Record(m, fmt.Sprintf("Small%02d", i), "p", "r", at)
		}
	}
	_, page := get(m.Handler(), "")
	last := -100
	named := map[string]bool{}
	for _, match := range tableNames.FindAllStringSubmatch(page, -1) {
		y := 0
		_, _ = fmt.Sscan(match[1], &y)
		if y < last+14 || y > 466 {
			t.Errorf("%s at %d, after %d", match[2], y, last)
		}
		last, named[match[2]] = y, true
	}
	if len(named) < 13 {
		t.Errorf("named %v", named)
	}
}

// A log with even load has the same brightness in all of its minutes.
func TestALogWithEvenLoadIsEvenlyBright(t *testing.T) {
	at := noon
	m := clocked(t, &at)
	for i := range 4 * 60 * 60 {
		at = noon.Add(time.Duration(i) * time.Second)
		ticks, _ := keys.Ticks(at)
		for n := range 20 {
			heat.Record(m, "Log", ticks[:11], fmt.Sprint(ticks, n), at)
		}
	}
	columns := heat.Brightness(m.Snapshot())
	for hour := range 4 {
		brightest := slices.Max(columns[60*hour : 60*hour+60])
		t.Logf("hour %d: the brightest field has %.2f of the scale", hour, brightest)
		if brightest < 0.65 { // a range of 128 has more keys, the longer the log
			t.Errorf("hour %d is dark", hour)
		}
	}
}

// The order of the keys and how often they are used do not matter.
func TestTheNumberOfKeysIsEstimated(t *testing.T) {
	for _, n := range []int{1, 10, 100, 10_000} {
		for _, rounds := range []int{1, 3, 10} {
			for _, step := range []int{1, 7919} { // in the order of the keys, or not
				at := noon
				m := clocked(t, &at)
				for i := range rounds * n {
					heat.Record(m, "Orders", "p", fmt.Sprint(i*step%n), at)
				}
				sum := 0.0
				for _, r := range m.Snapshot().Ranges {
					if strings.HasPrefix(r.From, "tOrders") {
						sum += r.Keys
					}
				}
				if sum < 0.5*float64(n) || sum > 2*float64(n) {
					t.Errorf("%.0f keys, of %d that were used %d times in steps of %d", sum, n, rounds, step)
				}
			}
		}
	}
}

func TestARangeIsSplitWhereItsLoadHasMoved(t *testing.T) {
	at := noon
	m := clocked(t, &at)
	for range 400_000 {
		heat.Record(m, "Orders", "p", "a", at)
	}
	for range 10 * 24 {
		at = at.Add(time.Hour)
		heat.Record(m, "Orders", "p", "a", at)
	}
	for i := range 20_000 {
		heat.Record(m, "Orders", "p", fmt.Sprintf("z%03d", i*7919%1000), at)
	}
	ranges := 0
	for _, r := range m.Snapshot().Ranges {
		if strings.HasPrefix(r.From, "tOrders\x00p\x00z") {
			ranges++
		}
	}
	if ranges < 8 {
		t.Errorf("%d ranges", ranges)
	}
}

func TestFiveMinutesAfterTheStartTheLoadFillsThePage(t *testing.T) {
	at := noon
	m := clocked(t, &at)
	for i := range 300 {
		at = noon.Add(time.Duration(i) * time.Second)
		heat.Record(m, "Orders", "p", fmt.Sprint(i), at)
	}
	at = noon.Add(5 * time.Minute)
	if share := heat.FilledWidth(m.Snapshot()); share < 0.8 {
		t.Errorf("the load fills %.0f %% of the width", 100*share)
	}
}

func TestKeysThatAreTimesAreLabeledAsTimes(t *testing.T) {
	ticks, _ := keys.Ticks(noon)
	inverted, _ := keys.InvertedTicks(noon)
	for key, want := range map[string]string{
		ticks: "2026-11-27 12:00", strings.TrimPrefix(ticks, "0"): "2026-11-27 12:00", inverted: "2026-11-27 12:00",
		"2026-11-27T12:00:05Z":            "2026-11-27 12:00",
		"log_2026-11-27T12:00:05.123456Z": "log_2026-11-27 12:00",
		"2026-11-27":                      "2026-11-27",
		"20261127T1200":                   "2026-11-27 12:00",
		"20261127120005":                  "2026-11-27 12:00",
	} {
		assert.Equal(t, heat.Label(key), want, key)
	}
	for _, key := range []string{"customer_2026", "12345678", "4915112345678", "20261399120000", "2026-13-01"} {
		if label := heat.Label(key); !strings.Contains(label, "#") {
			t.Errorf("%s is shown as %s", key, label)
		}
	}
	if label := heat.Label("2026-11-27T12:00_secret17"); !strings.HasPrefix(label, "2026-11-27 12:00#") {
		t.Error(label)
	}
}

// Writers take keys of their time, and their writes end in another order.
func TestKeysThatGrowAreFoundWithAnyNumberOfWriters(t *testing.T) {
	for _, writers := range []int{1, 2, 8, 64} {
		for kind, key := range map[heat.Kind]func(time.Time) (string, error){heat.AppendOnly: keys.Ticks, heat.PrependOnly: keys.InvertedTicks} {
			at := noon
			m := clocked(t, &at)
			random := rand.New(rand.NewPCG(1, uint64(writers)))
			type write struct {
				key string
				end time.Time
			}
			var all []write
			for i := range 300_000 { // for two minutes, 2,500 each second
				began := noon.Add(time.Duration(i) * 400 * time.Microsecond)
				latency := time.Duration(writers) * time.Duration(random.Int64N(int64(4*time.Millisecond)))
				text := assert.Must(key(began))(t)
				all = append(all, write{text, began.Add(latency)})
			}
			slices.SortFunc(all, func(a, b write) int { return a.end.Compare(b.end) })
			for _, w := range all {
				at = w.end
				heat.Record(m, "Log", w.key, "r", at)
			}
			wantFindings(t, m, kind)
		}
	}
}

// A request whose connection is observed calls the hooks of its own context, and of no other.
func TestTheTraceOfARequestIsItsOwn(t *testing.T) {
	sender := attachedTo(newMeter(t, nil), dialing{})
	for n := range 300 {
		reports := 0
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reports++ }})
		req := assert.Must(http.NewRequestWithContext(ctx, http.MethodGet, "https://a.table.example/T()", http.NoBody))(t)
		resp := assert.Must(sender.Do(req))(t)
		assert.NoError(t, resp.Body.Close())
		defer func() { assert.Equal(t, reports, 1, "the connections that request", n, "reported") }()
	}
}
