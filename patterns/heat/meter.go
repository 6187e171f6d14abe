package heat

import (
	"hash/maphash"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/limit"
	"github.com/azpatterns/azpatterns/query"
)

// Options are the options of [NewMeter]. The zero value is valid.
type Options struct {
	// Label returns what the page and the findings may show of a partition key or a row
	// key. nil shows the text before the first digit and a hash of the rest; see [Label].
	// It is called concurrently.
	Label func(key string) string

	// Clock returns the time at which a request counts, for programs that replay requests.
	// nil means time.Now. It is called concurrently.
	Clock func() time.Time
}

// Meter counts what the requests of its clients cost, by key. See the package
// documentation. It occupies at most 8 MiB, whatever the number of keys. A Meter is safe
// for concurrent use. NewMeter makes it; the zero Meter is not valid.
type Meter struct {
	label    func(string) string
	clock    func() time.Time // nil for time.Now
	requests sync.Pool
	pages    sync.Pool
	sequence atomic.Uint32
	traced   atomic.Uint32 // requests whose connection is known
	dialed   atomic.Uint32
	trace    *httptrace.ClientTrace

	mu         sync.Mutex
	began      time.Time
	minute     int64 // of the last flush
	records    int   // since the buckets were balanced
	resources  map[resourceKey]*resource
	recent     *resource // of the last request
	buckets    buckets
	partitions top
	rows       top
}

// NewMeter returns a Meter without data. nil means the zero Options.
func NewMeter(opts *Options) *Meter {
	m := &Meter{resources: map[resourceKey]*resource{}}
	if opts != nil {
		m.label, m.clock = opts.Label, opts.Clock
	}
	m.began = m.now()
	if m.label == nil {
		m.label = Label
	}
	m.requests.New = func() any { return &request{window: new([16 << 10]byte)} }
	m.pages.New = func() any { return new(page) }
	m.trace = &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if info.Conn == nil {
			return // a transport that reports no connections
		}
		m.traced.Add(1)
		if !info.Reused {
			m.dialed.Add(1)
		}
	}}
	m.buckets.list = []*bucket{{series: new(series)}}
	seed := maphash.MakeSeed()
	m.partitions.seed, m.rows.seed = seed, seed
	return m
}

// Attach adds the meter to the options of a client of tables, queues or blobs:
//
//	opts := patterns.Accelerate(nil)
//	meter.Attach(&opts.ClientOptions)
//
// It also works without Accelerate, and before it. The meter is part of the transport, so
// that it observes each try of a request as it is sent: it changes none, and adds no error.
// A transport that is set later needs Attach again. nil options are ignored. The targets of the service apply to an
// account, so use one Meter for each.
func (m *Meter) Attach(opts *azcore.ClientOptions) {
	if opts == nil {
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

type transport struct {
	m     *Meter
	inner policy.Transporter
}

// traceEvery is how many requests are sent for each whose connection is observed: a trace
// allocates.
const traceEvery = 64

// Do sends the request and counts it.
func (t *transport) Do(raw *http.Request) (*http.Response, error) {
	m := t.m
	r := m.requests.Get().(*request)
	r.read(raw)
	if m.sequence.Add(1)%traceEvery == 0 {
		raw = raw.WithContext(httptrace.WithClientTrace(raw.Context(), m.trace))
	}
	began := time.Now()
	resp, err := t.inner.Do(raw)
	r.finish(began, resp, err)
	if m.clock != nil {
		r.at = m.clock()
	}
	if r.ok && (r.kind == kindQuery || r.kind == kindPoll) && resp.Body != nil {
		p := m.pages.Get().(*page)
		*p = page{ReadCloser: resp.Body, m: m, r: r}
		resp.Body = p
		return resp, err
	}
	m.record(r)
	m.requests.Put(r)
	return resp, err
}

// record adds a request to all figures.
func (m *Meter) record(r *request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	minute := r.at.Unix() / 60
	if minute > m.minute || m.records >= 1<<14 && len(m.buckets.list) < maxBuckets {
		m.advance(r.at)
	}
	m.records++
	s := m.resource(r)
	s.count(r, m.rows.seed)

	p := s.start
	p.append(r.in(r.partition))
	l := load{transactions: r.weight, transferred: r.bytes * r.weight, milliseconds: r.millis * r.weight}
	if r.repeated {
		l[retries] = r.weight
	}
	if r.rejected {
		l[throttled] = r.weight
	}
	kind := writes
	if r.kind == kindRead || r.kind == kindQuery || r.kind == kindPoll {
		kind = reads
	}
	l[kind] = r.entities * r.weight
	if r.service == 't' && (r.kind != kindQuery || r.class <= query.PartitionScan) && r.kind != kindOther {
		m.partitions.count(&p, &l, minute)
	}
	if len(r.rows) == 0 {
		m.countRange(s, r, p, &l)
		return
	}
	if n := float64(len(r.rows)); n > 1 {
		for i := range l {
			l[i] /= n
		}
	}
	length := p.n
	for _, row := range r.rows {
		p.n = length
		p.append(separator, r.in(row))
		i := m.buckets.find(p.bytes())
		m.buckets.count(i, &l)
		m.buckets.list[i].keep(&p)
		if r.service == 't' && r.kind != kindQuery {
			m.rows.count(&p, &l, minute)
		}
	}
}

// countRange adds a page to one of the buckets that its query reads. The next page is added
// to the next bucket: which rows a page contains is not known without decoding it.
func (m *Meter) countRange(s *resource, r *request, from place, l *load) {
	to := from
	low, high := r.in(r.low), r.in(r.high)
	if len(r.in(r.partition)) > 0 {
		from.append(separator, low)
		if len(high) > 0 {
			to.append(separator, high)
		} else {
			to.append([]byte{1})
		}
	} else {
		from.append(low)
		if len(high) > 0 {
			to.append(high)
		} else {
			to.n = s.start.n - 1
			to.append([]byte{1})
		}
	}
	first, last := m.buckets.find(from.bytes()), m.buckets.find(to.bytes())
	i := first
	if last > first {
		i += s.pages % (last - first + 1)
		s.pages++
	}
	m.buckets.count(i, l)
}

type resourceKey struct {
	service byte
	name    string
}

// resource returns the counters of the resource of a request.
func (m *Meter) resource(r *request) *resource {
	if r.inBatch == (span{}) && m.recent != nil && m.recent.key == (resourceKey{r.service, r.resource}) {
		return m.recent
	}
	s := m.resources[resourceKey{r.service, r.resource}]
	if r.inBatch != (span{}) {
		s = m.resources[resourceKey{r.service, string(r.in(r.inBatch))}]
	}
	if s == nil {
		s = m.addResource(r.service, r.resource+string(r.in(r.inBatch)))
	}
	m.recent = s
	return s
}

func (m *Meter) addResource(service byte, name string) *resource {
	if len(m.resources) >= maxResources || len(name) > 63 {
		service, name = 't', "(others)"
		if s := m.resources[resourceKey{service, name}]; s != nil {
			return s
		}
	}
	name = strings.Clone(name)
	s := &resource{key: resourceKey{service, name}, low: [2]place{aboveAll, aboveAll}}
	s.start.append([]byte{service}, []byte(name), separator)
	m.resources[s.key] = s
	if len(m.buckets.list) == maxBuckets {
		m.buckets.mergeColdest()
	}
	m.buckets.start(string(service) + name)
	return s
}

// advance moves what was counted to the series, and starts a minute.
func (m *Meter) advance(now time.Time) {
	if now.Before(m.buckets.at) {
		now = m.buckets.at // of a request that ended before another that was recorded first
	}
	m.buckets.flush(now)
	before, minute := m.minute, now.Unix()/60
	if len(m.buckets.list) < maxBuckets || minute/10 != before/10 {
		m.buckets.balance()
	}
	m.records = 0
	m.minute = minute
	if before == 0 {
		return
	}
	if minute/60 != before/60 {
		for _, s := range m.resources {
			s.hour()
		}
		m.partitions.age()
		m.rows.age()
	}
	if span := int64(generation / time.Minute); minute/span != before/span {
		for _, s := range m.resources {
			s.generation()
		}
	}
}
