package highvolumedelete

import (
	"fmt"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns"
)

// Tables is a set of tables, one for each period, with rows of type T. It may be
// used by any number of goroutines; it starts none that outlives a call, and needs
// no closing. A program should make one Tables of a set and share it: it remembers
// which tables exist, and what was dropped.
type Tables[T any] struct {
	names   naming
	service *aztables.ServiceClient
	table   patterns.TableOptions[T]
	model   *patterns.Table[T] // of keys and plans; it makes no request
	time    func(*T) time.Time
	keep    time.Duration

	mu      sync.Mutex
	floor   time.Time           // periods before it were dropped
	entries map[int64]*entry[T] // by the beginning of the period
	account string              // the address of the account, once known
}

// Options are the options of [New]. nil and the zero value mean the defaults.
type Options[T any] struct {
	// Time gives the time of an event, which decides the table that its row belongs
	// to. It must be pure, and must not be the time of writing: the second attempt of
	// a write has to find the table of the first. nil stands for T's only exported
	// field of type time.Time.
	Time func(*T) time.Time

	// Keep is how long rows are kept: writes to a period that ended longer ago are
	// refused with [ErrDropped], before any request. Zero means that only what this
	// Tables has seen being dropped is refused. Every process that writes should have
	// the same Keep, at most the age at which tables are dropped: it is the only
	// limit that holds in all of them, since a table that was dropped leaves nothing
	// behind for others to see.
	Keep time.Duration

	// Table are the options of every table: the key, above all.
	Table patterns.TableOptions[T]
}

// New makes a Tables on the service's tables with names that begin with prefix:
// letters and digits, a letter first and last. What follows is the period, in UTC
// and of fixed width, so that the order of names is that of time; see [Period]. Two
// sets must not differ in the case of their prefixes only.
//
// New makes no request. The error names what is wrong with prefix or period, with
// the type, or with the options.
func New[T any](service *aztables.ServiceClient, prefix string, period Period, opts *Options[T]) (*Tables[T], error) {
	var o Options[T]
	if opts != nil {
		o = *opts
	}
	s := &Tables[T]{
		names:   naming{prefix, period},
		service: service,
		table:   o.Table,
		time:    o.Time,
		keep:    o.Keep,
		entries: make(map[int64]*entry[T]),
	}
	if err := s.complete(); err != nil {
		return nil, fmt.Errorf("new tables: %w", err)
	}
	return s, nil
}

func (s *Tables[T]) complete() (err error) {
	if s.service == nil {
		return fmt.Errorf("service: %w", patterns.ErrNil)
	}
	if err := s.names.check(); err != nil {
		return err
	}
	if s.table.Keyless {
		return fmt.Errorf("%w: a keyless Table, whose values have no key to be written under", ErrBadOption)
	}
	if s.keep < 0 {
		return fmt.Errorf("%w: a negative Keep", ErrBadOption)
	}
	if s.time == nil {
		if s.time, err = timeField[T](); err != nil {
			return err
		}
	}
	s.model, err = s.open(time.Unix(0, 0))
	return err
}

// Service gives back the client that New took.
func (s *Tables[T]) Service() *aztables.ServiceClient { return s.service }

// Name is the name of the table that holds events of time t. A time outside the
// years 2 to 9999 gives [patterns.ErrBadKey].
func (s *Tables[T]) Name(t time.Time) (string, error) {
	start, err := s.names.period.in(t)
	if err != nil {
		return "", fmt.Errorf("name: %w", err)
	}
	return s.names.name(start), nil
}

// Table is the table that holds events of time t, to get, change and delete its
// rows. No request: it may not exist, and then gives [patterns.ErrTableNotFound].
// For writing take [Tables.Open].
func (s *Tables[T]) Table(t time.Time) (*patterns.Table[T], error) {
	start, err := s.names.period.in(t)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	return s.reader(start)
}

// Limit is the beginning of the oldest period that takes writes, by [Options.Keep]
// and by what [Tables.DropBefore] has dropped, whichever is later. It is zero where
// there is no limit.
func (s *Tables[T]) Limit() time.Time {
	s.mu.Lock()
	limit := s.floor
	s.mu.Unlock()
	if s.keep > 0 {
		if kept := s.names.period.Start(time.Now().Add(-s.keep)); kept.After(limit) {
			limit = kept
		}
	}
	return limit
}

// open makes the patterns.Table of the period that begins at start.
func (s *Tables[T]) open(start time.Time) (*patterns.Table[T], error) {
	return patterns.NewTable(s.service.NewClient(s.names.name(start)), &s.table)
}

// reader is the table of a period to read from.
func (s *Tables[T]) reader(start time.Time) (*patterns.Table[T], error) {
	s.mu.Lock()
	e := s.entries[start.Unix()]
	s.mu.Unlock()
	if e != nil {
		return e.table, nil
	}
	return s.open(start)
}
