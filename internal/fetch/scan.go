package fetch

import (
	"context"
	"slices"
	"sync"

	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/internal/wire"
)

// ScanPage is a part of what a scan reads.
type ScanPage struct {
	Rows Rows // in key order within the page; may be empty

	// Cursor resumes the scan after all pages returned so far. It is "" if there are no
	// more pages.
	Cursor string

	Progress Progress
}

// Progress counts what a scan has done, including the runs before the cursor that it was
// resumed from.
type Progress struct {
	Rows     int // returned
	Requests int // for pages and for dividing ranges, without the SDK's retries
	Segments int // key ranges that were read, or are being read, independently
}

// Scan reads the rows of the plan's reads in no order, as fast as [types.QueryOptions.Parallel]
// concurrent requests allow, and calls yield for each page until it returns false. It
// ignores the plan's limit. The text is a cursor; "" is the beginning. If reading fails,
// the last call has the error and a zero ScanPage. When Scan returns, no request is in
// flight.
//
// Each read starts as one segment, a range of keys. Whenever a request is free, the
// segment with the most room left is cut in two: between partitions or, if a single one
// is left, between rows of it. Cut points come from the keys received so far and from
// probes, which request the keys of one row. Requests that [ReadPlan.Run] would not need
// are bounded by [scan.extraAllowed].
//
// A row that exists all the time is returned exactly once, over any number of runs that
// resume from one another's cursors. On Cosmos DB for Table, whose results have no
// order, nothing is cut.
func (p *ReadPlan) Scan(ctx context.Context, d PageDecoder, text string, yield func(ScanPage, error) bool) {
	s := &scan{ReadPlan: p, decoder: d}
	err := s.resume(ctx, text)
	if err == nil {
		err = s.checkTable(s.resumed)
	}
	if err != nil {
		yield(ScanPage{}, err)
		return
	}
	s.run(ctx, yield)
}

type byKey struct{}

// ByKey returns a context with which [ReadPlan.Scan] resumes from a cursor without its continuation
// tokens, which another region of the account does not accept. Each segment continues after
// its last row, and the pages after it are requested again.
func ByKey(ctx context.Context) context.Context { return context.WithValue(ctx, byKey{}, true) }

// scan is a scan in progress. It belongs to the goroutine of the loop. The other
// goroutines make one request each and send the reply.
type scan struct {
	*ReadPlan
	decoder  PageDecoder
	resumed  pages.Cursor
	segments []*segment
	nextRead int // the first read of the plan that is no segment yet
	progress Progress
	sent     int // requests of this run
	pages    int // received in this run
	extra    int // of the requests sent, those that Run would not have needed, at most
	known    alphabet

	inFlight int
	running  sync.WaitGroup
	replies  chan reply
}

// reply is the outcome of one request.
type reply struct {
	of    *segment
	rows  Rows
	next  wire.Position
	probe *probe // nil: the request was for a page
	err   error
}

func (s *scan) run(ctx context.Context, yield func(ScanPage, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	s.replies = make(chan reply, s.parallel) // room for all, so that no sender waits
	defer s.running.Wait()
	defer cancel()
	for s.start(ctx); s.inFlight > 0; s.start(ctx) {
		r := <-s.replies
		s.inFlight--
		if wrong := s.checkTable(s.resumed); wrong != nil {
			r.err = wrong // the rows are of another table
		}
		if r.err != nil {
			yield(ScanPage{}, r.err)
			return
		}
		if r.probe != nil {
			s.probed(r.probe)
			continue
		}
		s.received(r.of, r.rows, r.next)
		if !s.sequential {
			s.start(ctx) // the loop's body may take long
		}
		page := ScanPage{Rows: r.rows, Progress: s.progress}
		if len(s.segments) > 0 || s.nextRead < len(s.reads) {
			var err error
			if page.Cursor, err = s.sealCursor(); err != nil {
				yield(ScanPage{}, err)
				return
			}
		}
		if !yield(page, nil) || page.Cursor == "" {
			return
		}
	}
}

// start sends requests until enough are in flight: for pages first, then probes.
func (s *scan) start(ctx context.Context) {
	for s.inFlight < s.parallel {
		if g := s.idle(); g != nil {
			g.reading = true
			s.send(func() reply {
				rows, next, err := s.readPage(ctx, s.decoder, g.filter, g.token, s.pageSize())
				return reply{of: g, rows: rows, next: next, err: err}
			})
			continue
		}
		g, points := s.toCut(s.parallel - s.inFlight)
		if g == nil {
			return
		}
		for _, at := range points {
			p := &probe{cutPoint: at, of: g, span: keyRange{at.key, g.end}}
			g.probes++
			s.extra++
			s.send(func() reply { return reply{probe: p, err: s.probe(ctx, p)} })
		}
	}
}

func (s *scan) send(request func() reply) {
	s.inFlight++
	s.sent++
	s.progress.Requests++
	s.running.Go(func() { s.replies <- request() })
}

// idle returns a segment whose next page is not being read, nil if there is none. It
// begins the next read of the plan if necessary.
func (s *scan) idle() *segment {
	for _, g := range s.segments {
		if !g.reading {
			return g
		}
	}
	if s.nextRead == len(s.reads) {
		return nil
	}
	g, _ := s.newSegment(s.nextRead, false, spanOf(&s.reads[s.nextRead]))
	s.nextRead++
	s.add(g)
	return g
}

func (s *scan) add(g *segment) {
	s.segments = append(s.segments, g)
	s.progress.Segments++
}

// received processes a page of g, and trims rows to those that are new and of g.
func (s *scan) received(g *segment, rows Rows, next wire.Position) {
	g.reading = false
	s.pages++
	done := g.advance(rows, next)
	n := rows.Len() // before the Restriction drops any, because all keys serve the choice of cut points
	if n > 0 {
		for i := 0; i < n; i += max(n/16, 1) { // a sample: keys consist of few characters
			s.known.add(g.first, rows.Key(i))
		}
		s.known.add(g.first, g.last)
	}
	s.drop(rows)
	s.progress.Rows += rows.Len()
	switch {
	case done:
		s.remove(g)
	case n == 0 && g.isCut():
		s.extra += g.emptyPages
		s.restart(g)
	}
}

func (s *scan) remove(g *segment) {
	s.segments = slices.DeleteFunc(s.segments, func(h *segment) bool { return h == g })
}
