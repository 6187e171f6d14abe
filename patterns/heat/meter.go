package heat

import (
	"context"
	"hash/maphash"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/limit"
	"github.com/azpatterns/azpatterns/internal/target"
)

// Options are the options of [NewMeter]. The zero value is valid.
type Options struct {
	// Label returns what the page and the findings may show of a partition key or a row
	// key. nil shows the text before the first digit, then a time or a hash of the rest; see
	// [Label].
	// It is called concurrently.
	Label func(key string) string

	// Clock returns the time at which a request counts, for programs that replay requests.
	// nil means time.Now. It is called concurrently.
	Clock func() time.Time
}

// Meter counts what the requests of its clients cost, by key. See the package
// documentation. It occupies at most 8 MiB, whatever the number of keys. A Meter is safe
// for concurrent use. NewMeter makes it; the zero Meter counts nothing.
type Meter struct {
	label    func(string) string
	clock    func() time.Time // nil for time.Now
	began    time.Time
	requests sync.Pool
	sequence atomic.Uint32
	traced   atomic.Uint32 // requests whose connection is known
	dialed   atomic.Uint32

	mu         sync.Mutex
	jumped     time.Duration // by how much the clock was set, or the machine slept
	minute     int64         // of the last flush
	records    int           // since the buckets were balanced
	resources  map[string]*resource
	recent     *resource // of the last request
	buckets    buckets
	partitions top
	rows       top
	dials      [2][2]uint32 // traced and dialed, when this generation and the previous one began
}

// NewMeter returns a Meter without data. nil means the zero Options. There is no option yet that
// it refuses, so the error is nil.
func NewMeter(opts *Options) (*Meter, error) { return newMeter(opts), nil }

func newMeter(opts *Options) *Meter {
	m := &Meter{resources: map[string]*resource{}}
	if opts != nil {
		m.label, m.clock = opts.Label, opts.Clock
	}
	m.began = m.now()
	m.requests.New = func() any { return &request{m: m, Request: target.NewRequest()} }
	m.buckets.list = []*bucket{{series: new(series)}}
	return m
}

// Attach adds the meter to the options of a client of tables, queues or blobs:
//
//	var opts aztables.ClientOptions
//	patterns.Accelerate(&opts.ClientOptions)
//	meter.Attach(&opts.ClientOptions)
//
// It also works without Accelerate, and before it. The meter is part of the transport, so
// that it observes each try of a request as it is sent: it changes none, and adds no error.
// A transport that is set later needs Attach again. Attach ignores nil options, and options
// to which the meter is attached. The targets of the service apply to an account, so use one
// Meter for each.
func (m *Meter) Attach(opts *azcore.ClientOptions) {
	if opts == nil || m == nil || m.resources == nil {
		return
	}
	if t, ok := opts.Transport.(*transport); !ok || t.m != m {
		opts.Transport = &transport{m, limit.Unlimited(opts.Transport)}
	}
}

func (m *Meter) now() time.Time {
	if m.clock != nil {
		return m.clock()
	}
	return time.Now()
}

// elapsed returns the time since the meter began. That of the process is monotonic, and
// faster to read than time.Now.
func (m *Meter) elapsed() time.Duration {
	if m.clock != nil {
		return m.clock().Sub(m.began)
	}
	return time.Since(m.began)
}

type transport struct {
	m     *Meter
	inner policy.Transporter
}

// traceEvery is how many requests are sent for each whose connection is observed, because a trace allocates,
// and traceFirst how many of the first ones, for programs that send few.
const traceEvery, traceFirst = 64, 8

// Do sends the request and counts it.
func (t *transport) Do(raw *http.Request) (*http.Response, error) {
	m := t.m
	r := m.requests.Get().(*request)
	r.Read(raw)
	r.sent = max(raw.ContentLength, 0)
	if n := m.sequence.Add(1); n%traceEvery == 0 || n < traceEvery && n%traceFirst == 0 {
		raw = raw.WithContext(m.trace(raw.Context()))
	}
	began := m.elapsed()
	resp, err := t.inner.Do(raw)
	r.finish(began, m.elapsed(), resp, err)
	if !r.ok || !r.Wrap(resp, r) {
		r.record()
	}
	return resp, err
}

// trace returns a context whose request reports its connection. Each request has a ClientTrace of
// its own, because WithClientTrace adds the hooks of the context to the one that it is passed.
func (m *Meter) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if info.Conn == nil {
			return // a transport that reports no connections
		}
		m.traced.Add(1)
		if !info.Reused {
			m.dialed.Add(1)
		}
	}})
}

// record adds a request to all figures, and makes room for another.
func (r *request) record() {
	r.m.record(r)
	r.m.requests.Put(r)
}

// record adds a request to all figures.
func (m *Meter) record(r *request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.began.Add(m.jumped + r.at)
	minute := at.Unix() / 60
	if minute > m.minute || minute < m.minute-60 || m.records >= 1<<14 && len(m.buckets.list) < maxBuckets {
		m.advance(at)
	}
	m.records++
	s := m.resource(r)
	all := r.load()
	l := all
	partition, row := r.in(r.Partition), uint64(0)
	hash := maphash.Bytes(seed, partition)
	table := r.In(r.Resource)[0] == 't'
	if table && len(partition) > 0 {
		m.partitions.count(hash, partition, &l, minute)
	}
	for i, span := range r.Rows {
		if n := max(r.Entities, 1); n > 1 {
			l = all.part(min(r.Every, n-i*r.Every), n)
		}
		place := r.in(span)
		e := m.buckets.list[m.buckets.find(place)]
		m.count(e, &l, at)
		e.keep(place)
		row = maphash.Bytes(seed, place)
		e.keys.add(row)
		if table && r.Kind != target.Query {
			m.rows.count(row, place, &l, minute)
		}
	}
	if len(r.Rows) == 0 {
		m.countRange(s, r, &l, at)
	}
	s.count(r, minute, hash, row)
}

// count adds a load to a bucket: to the current minute, or to the earlier one in which the request was
// sent.
func (m *Meter) count(e *bucket, l *load, at time.Time) {
	if at.Unix()/60 >= m.minute {
		e.now.add(l)
		return
	}
	e.series.count(at, l)
	e.weight += l.weight()
}

// countRange adds a page to one of the buckets that its query reads. The next page is added
// to the next bucket: which rows a page contains is not known without decoding it.
func (m *Meter) countRange(s *resource, r *request, l *load, at time.Time) {
	low, high := m.buckets.find(r.in(r.Low)), r.in(r.High)
	if next := low + 1; next < len(m.buckets.list) && m.buckets.list[next].from <= string(high) {
		low += s.pages % (m.buckets.find(high) - low + 1)
		s.pages++
	}
	m.count(m.buckets.list[low], l, at)
}

// resource returns the counters of the resource of a request.
func (m *Meter) resource(r *request) *resource {
	name := r.in(r.Resource)
	if m.recent == nil || m.recent.name != string(name) {
		m.recent = m.resources[string(name)]
		if m.recent == nil {
			m.recent = m.addResource(string(name))
		}
	}
	return m.recent
}

// others is the resource of the requests for more resources than a meter distinguishes.
const others = "t(others)"

func (m *Meter) addResource(name string) *resource {
	if s := m.resources[others]; s != nil && name != others {
		return s
	}
	if len(m.resources) >= maxResources || len(name) > 64 {
		name = others
	}
	s := &resource{name: name, low: aboveAll.before()}
	m.resources[name] = s
	if len(m.buckets.list) == maxBuckets {
		m.buckets.merge(m.buckets.coldest())
	}
	m.buckets.start(name)
	return s
}

// advance moves what was counted to the series, and starts a minute.
func (m *Meter) advance(now time.Time) {
	if back := m.buckets.at.Sub(now); back > time.Hour {
		m.buckets.rewind(now) // the clock was set back
	} else if back > 0 {
		now = m.buckets.at // requests ended out of order
	}
	m.buckets.flush(now)
	before, minute := m.minute, now.Unix()/60
	m.buckets.balance()
	m.records, m.minute = 0, minute
	m.jumped = (m.now().Round(0).Sub(m.began.Round(0)) - m.elapsed()).Truncate(time.Second)
	for hour := max(before/60, minute/60-2*generation) + 1; before > 0 && hour <= minute/60; hour++ {
		m.age(hour%generation == 0)
	}
}

// age begins an hour, or also a generation.
func (m *Meter) age(generation bool) {
	for _, s := range m.resources {
		s.hour(generation)
	}
	for _, e := range m.buckets.list {
		e.weight *= 0.97      // half of it in a day
		e.seen -= e.seen / 32 // likewise
	}
	m.partitions.age(generation)
	m.rows.age(generation)
	if generation {
		m.dials[1], m.dials[0] = m.dials[0], [2]uint32{m.traced.Load(), m.dialed.Load()}
	}
}
