package queue

import (
	"net/http"
	"strings"
	"sync"

	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
)

// Service is the Queue service of one account. Make one with New; it is safe for
// concurrent use.
type Service struct {
	mu      sync.Mutex
	queues  map[string]*queue
	dying   restxml.Tombstones
	ticks   restxml.Ticks
	setting restxml.Settings
}

type queue struct {
	name     string
	meta     restxml.Metadata
	policies []restxml.Policy
	box      box
}

// New makes an empty service.
func New() *Service { return &Service{queues: map[string]*queue{}} }

// ServeHTTP carries out one request. The path has no account: /, /queue,
// /queue/messages or /queue/messages/id. Header names are canonical, as net/http
// delivers them; an x-ms-meta- name may be as the client spelled it.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, e := restxml.Begin(w, r)
	if e == nil {
		e = s.route(c)
	}
	if e != nil {
		c.Fail(e)
	}
}

func (s *Service) route(c *restxml.Call) *restxml.Error {
	path := strings.TrimPrefix(c.R.URL.Path, "/")
	if path == "" {
		return s.account(c)
	}
	name, tail, sub := strings.Cut(strings.TrimSuffix(path, "/"), "/")
	if e := restxml.CheckName(name); e != nil {
		return e
	}
	if !sub {
		return s.queue(c, name)
	}
	if tail == "messages" {
		return s.messages(c, name)
	}
	if id, ok := strings.CutPrefix(tail, "messages/"); ok && id != "" && !strings.Contains(id, "/") {
		return s.message(c, name, id)
	}
	return restxml.InvalidURI()
}

func (s *Service) account(c *restxml.Call) *restxml.Error {
	restype, comp := c.Query.Get("restype"), c.Query.Get("comp")
	get := c.R.Method == http.MethodGet
	switch {
	case restype == "" && comp == "list":
		if !get {
			return restxml.UnsupportedVerb()
		}
		return s.list(c)
	case restype == "service" && comp == "properties":
		return c.Settings(&s.setting, false)
	case restype == "service" && comp == "stats":
		return restxml.InvalidQuery("comp", comp, "Statistics are read from the secondary endpoint.")
	case comp == "":
		return restxml.InvalidURI()
	}
	return restxml.InvalidQuery("comp", comp, "Unknown operation.")
}

// on lets do work on a queue, with s.mu held.
func (s *Service) on(c *restxml.Call, name string, do func(*queue) *restxml.Error) *restxml.Error {
	c.Lock(&s.mu)
	defer s.mu.Unlock()
	q := s.queues[name]
	if q == nil {
		return restxml.Refuse(http.StatusNotFound, "QueueNotFound", "The specified queue does not exist.")
	}
	q.box.sweep(c.Now)
	return do(q)
}
