package highvolumedelete

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Tables is a set of tables, one for each period, with rows of type T. It is safe for
// concurrent use, starts no goroutine that outlives a call, and need not be closed. A
// program should share one Tables per set, because it remembers which tables exist and
// which were dropped.
type Tables[T any] struct {
	names   naming
	service *aztables.ServiceClient
	table   patterns.TableOptions[T]
	model   *patterns.Table[T] // for keys and query plans; makes no request
	time    func(*T) time.Time
	keep    time.Duration

	mu      sync.Mutex
	floor   time.Time                // periods before it were dropped
	states  map[int64]*tableState[T] // by the start of the period
	account string                   // address of the account, once known
	asked   *patterns.Table[T]       // the table that has last got a reply; nil if none has
}

// Options are the options of [New]. nil and the zero value mean the defaults.
type Options[T any] struct {
	// Time returns the time of an event, which decides the table of its row. It must be a
	// pure function, and must not return the time of the write: a second attempt must find
	// the table of the first. nil means T's only exported field of type time.Time.
	Time func(*T) time.Time

	// Keep is how long rows are kept: a write to a period that ended longer ago, by the
	// clock of the service, returns [ErrDropped] without a request. The first write of a
	// Tables takes one request more, which determines the time of the service. Zero means
	// that writes are refused only to periods that this Tables knows to be dropped. All
	// processes that write should use the same Keep, not longer than the age at which tables
	// are dropped. It is the only limit that works in all processes, because a dropped table
	// leaves no trace that others could see.
	Keep time.Duration

	// Table are the options of every table, in particular the key. Set its StampWrites if
	// programs insert much: see the chapter Failures of the package documentation.
	Table patterns.TableOptions[T]
}

// New returns the Tables of the service whose names start with prefix, which consists of
// letters and digits and starts and ends with a letter. The rest of a name is the period;
// see [Period]. The prefixes of two sets must differ in more than case.
//
// New makes no request. The error describes what is wrong with the prefix, the period, the
// type or the options.
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
		states:  make(map[int64]*tableState[T]),
	}
	if err := s.complete(); err != nil {
		return nil, fmt.Errorf("new tables: %w", err)
	}
	return s, nil
}

// complete checks the fields that New has set and sets the others.
func (s *Tables[T]) complete() (err error) {
	if s.service == nil {
		return fmt.Errorf("service: %w", patterns.ErrNil)
	}
	if err := s.names.check(); err != nil {
		return err
	}
	if s.table.Keyless {
		return fmt.Errorf("%w: Table is keyless, but rows need a key", patterns.ErrBadOption)
	}
	if s.keep < 0 {
		return fmt.Errorf("%w: Keep is negative", patterns.ErrBadOption)
	}
	if s.time == nil {
		if s.time, err = timeField[T](); err != nil {
			return err
		}
	}
	s.model, err = s.newTable(time.Unix(0, 0))
	return err
}

// timeField returns a function that returns T's only field of type time.Time.
func timeField[T any]() (func(*T) time.Time, error) {
	t := reflect.TypeFor[T]()
	var found []reflect.StructField
	if t.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(t) {
			// Promoted fields are ignored, because their embedded struct may be a nil pointer.
			if f.IsExported() && f.Type == reflect.TypeFor[time.Time]() && len(f.Index) == 1 {
				found = append(found, f)
			}
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%w: Time must be set, because %v has %d fields of type time.Time instead of one", patterns.ErrBadOption, t, len(found))
	}
	index := found[0].Index[0]
	return func(v *T) time.Time { return reflect.ValueOf(v).Elem().Field(index).Interface().(time.Time) }, nil
}

// Service returns the client that was passed to New.
func (s *Tables[T]) Service() *aztables.ServiceClient { return s.service }

// Name returns the name of the table for events of time t. The error matches
// [patterns.ErrBadKey] if t is outside the years 2 to 9999.
func (s *Tables[T]) Name(t time.Time) (string, error) {
	start, err := s.names.period.checkedStart(t)
	if err != nil {
		return "", fmt.Errorf("name: %w", err)
	}
	return s.names.name(start), nil
}

// Table returns the table for events of time t, to get, change and delete rows. It makes no
// request: if the table does not exist, its methods return [patterns.ErrTableNotFound]. Use
// [Tables.Open] to write to a table that may not exist.
func (s *Tables[T]) Table(t time.Time) (*patterns.Table[T], error) {
	start, err := s.names.period.checkedStart(t)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	return s.readTable(start)
}

// Limit returns the start of the oldest period that accepts writes: the later one of the
// limits by [Options.Keep] and by [Tables.DropBefore]. It is zero if there is no limit. The
// limit by Keep depends on the clock of the service; before the first write, on that of
// this machine.
func (s *Tables[T]) Limit() time.Time {
	s.mu.Lock()
	limit := s.floor
	s.mu.Unlock()
	if s.keep > 0 {
		if kept := s.names.period.Start(s.now().Add(-s.keep)); kept.After(limit) {
			limit = kept
		}
	}
	return limit
}

// now returns the time of the service; that of this machine if no reply has shown the time
// of the service yet.
func (s *Tables[T]) now() time.Time {
	s.mu.Lock()
	asked := s.asked
	s.mu.Unlock()
	if asked != nil {
		if now, ok := asked.ServiceTime(); ok {
			return now
		}
	}
	return time.Now()
}

// learnTime makes one request if now would return the time of this machine.
func (s *Tables[T]) learnTime(ctx context.Context) error {
	s.mu.Lock()
	known := s.asked != nil
	s.mu.Unlock()
	if known {
		return nil
	}
	table, err := s.newTable(s.names.period.Start(time.Now()))
	if err != nil {
		return err
	}
	_, err = table.Get(ctx, keys.Key{Partition: "azp", Row: "azp"}) // neither the table nor the row need exist
	if _, ok := table.ServiceTime(); !ok {
		return err
	}
	s.mu.Lock()
	s.asked = table
	s.mu.Unlock()
	return nil
}

// periodOf returns the start of v's period.
func (s *Tables[T]) periodOf(v *T) (time.Time, error) {
	if v == nil {
		return time.Time{}, fmt.Errorf("value: %w", patterns.ErrNil)
	}
	at := s.time(v)
	if at.IsZero() {
		return at, fmt.Errorf("%w: the event has no time", patterns.ErrBadKey)
	}
	return s.names.period.checkedStart(at)
}

// newTable returns a patterns.Table for the period that starts at start.
func (s *Tables[T]) newTable(start time.Time) (*patterns.Table[T], error) {
	return patterns.NewTable(s.service.NewClient(s.names.name(start)), &s.table)
}

// readTable returns the table of a period for reads.
func (s *Tables[T]) readTable(start time.Time) (*patterns.Table[T], error) {
	s.mu.Lock()
	e := s.states[start.Unix()]
	s.mu.Unlock()
	if e != nil {
		return e.table, nil
	}
	return s.newTable(start)
}
