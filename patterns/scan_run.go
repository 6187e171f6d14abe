package patterns

import (
	"context"
	"sync"

	"github.com/azpatterns/azpatterns/internal/wire"
)

// scan is a scan under way. All of it belongs to the goroutine of the loop; the
// others make one request each and hand over the reply.
type scan[T any] struct {
	*plan[T]
	segments []*segment
	next     int // the first read of the plan that is no segment yet
	progress ScanProgress
	sent     int // requests of this run
	pages    int // received in this run
	extra    int // of the requests sent, those that Query would not have needed, at most
	known    alphabet

	inFlight int
	running  sync.WaitGroup
	replies  chan reply[T]
}

// reply is what a request got.
type reply[T any] struct {
	of    *segment
	items []Item[T]
	next  wire.Position
	probe *probe // nil for a page
	err   error
}

func (s *scan[T]) run(ctx context.Context, yield func(ScanPage[T], error) bool) {
	if err := s.check(); err != nil {
		yield(ScanPage[T]{}, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.replies = make(chan reply[T], s.parallel) // room for all, so that none has to wait
	defer s.running.Wait()
	defer cancel()
	for s.start(ctx); s.inFlight > 0; s.start(ctx) {
		r := <-s.replies
		s.inFlight--
		if err := s.check(); err != nil {
			r.err = err // what came is of another table
		}
		if r.err != nil {
			yield(ScanPage[T]{}, r.err)
			return
		}
		if r.probe != nil {
			s.probed(r.probe)
			continue
		}
		page := ScanPage[T]{Items: s.received(r.of, r.items, r.next)}
		s.start(ctx) // the loop's body may take its time
		page.Progress = s.progress
		var err error
		if len(s.segments) > 0 || s.next < len(s.reads) {
			if page.Cursor, err = s.cursor(); err != nil {
				yield(ScanPage[T]{}, err)
				return
			}
		}
		if !yield(page, nil) || page.Cursor == "" {
			return
		}
	}
}

// start sends requests until enough are under way: pages first, then probes.
func (s *scan[T]) start(ctx context.Context) {
	for s.inFlight < s.parallel {
		if g := s.idle(); g != nil {
			g.busy = true
			s.send(func() reply[T] {
				items, next, err := s.readPage(ctx, g.filter, g.token, s.pageSize())
				return reply[T]{of: g, items: items, next: next, err: err}
			})
			continue
		}
		g, places := s.victim(s.parallel - s.inFlight)
		if g == nil {
			return
		}
		for _, at := range places {
			p := &probe{place: at, of: g, span: span{at.at, g.to}}
			g.probes++
			s.extra++
			s.send(func() reply[T] { return reply[T]{probe: p, err: s.probe(ctx, p)} })
		}
	}
}

func (s *scan[T]) send(request func() reply[T]) {
	s.inFlight++
	s.sent++
	s.progress.Requests++
	s.running.Go(func() { s.replies <- request() })
}

// idle gives a segment to read a page of, if there is one that waits.
func (s *scan[T]) idle() *segment {
	for _, g := range s.segments {
		if !g.busy {
			return g
		}
	}
	if s.next == len(s.reads) {
		return nil
	}
	g, _ := s.newSegment(s.next, false, spanOf(&s.reads[s.next]))
	s.next++
	s.add(g)
	return g
}

func (s *scan[T]) add(g *segment) {
	s.segments = append(s.segments, g)
	s.progress.Segments++
}

// received takes in a page and gives the rows to hand out.
func (s *scan[T]) received(g *segment, items []Item[T], next wire.Position) []Item[T] {
	g.busy = false
	s.pages++
	items, done := take(g, items, next)
	s.progress.Rows += len(items)
	if len(items) > 0 {
		for i := 0; i < len(items); i += max(len(items)/16, 1) { // there are few characters
			s.known.learn(g.first, items[i].Key)
		}
		s.known.learn(g.first, g.last)
	}
	switch {
	case done:
		s.remove(g)
	case len(items) == 0 && g.cut():
		s.extra += g.blank
		s.restart(g)
	}
	return items
}

func (s *scan[T]) remove(g *segment) {
	for i, h := range s.segments {
		if h == g {
			s.segments = append(s.segments[:i], s.segments[i+1:]...)
			return
		}
	}
}
