package patterns_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// promised is the entity of the documented promises. Version identifies what one operation has written.
type promised struct {
	PartitionKey, RowKey string
	Version              string
	One, Many            string // none: no value
	Weight               int64
	Tags                 []string `table:",json"`
}

const none = "~none"

func (e *promised) key() keys.Key { return keys.Key{Partition: e.PartitionKey, Row: e.RowKey} }

func (e *promised) one() (string, bool)  { return e.One, e.One != none }
func (e *promised) many() (string, bool) { return e.Many, e.Many != none }

// promisedWrite is what an operation does with one entity. version is "" if it deletes the entity.
type promisedWrite struct {
	key          keys.Key
	kind         harness.Kind // InsertRow, PutRow, Remove; UpdateRow: if the version is saw; DeleteRow, TouchRow: if it exists
	version, saw string
	// together is what one Bulk has written in the partition. It may be one transaction: entities can exchange unique values.
	together map[keys.Key][]string
}

// promisedEvent is an operation: writes, or a read that saw at one moment that the entities which match are those of want.
type promisedEvent struct {
	writes []promisedWrite
	match  func(*promised) bool
	want   map[keys.Key]string // the version, "" if it is not known
	count  int                 // instead of want, if that is nil
}

// promises records what the clients of a Store did and learned, and knows what the documentation promises about it.
type promises struct {
	unique []func(*promised) string // the key of a unique value, "" if the entity has none

	mu       sync.Mutex
	versions map[string]promised
	known    []porcupine.Operation
	unknown  []porcupine.Operation
	lookups  []lookupRead
	steps    int // of the search for an order
}

// lookupRead is a query of a Lookup and how often it has returned each entity.
type lookupRead struct {
	began, ended int64
	match        func(*promised) bool
	found        map[keys.Key]int
}

// declare stores what an operation is about to write.
func (m *promises) declare(e promised) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e.Tags = slices.Clone(e.Tags)
	m.versions[e.Version] = e
}

// content checks that e is, in all properties, what one operation has written.
func (m *promises) content(e *promised) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if want := m.versions[e.Version]; !slices.Equal(e.Tags, want.Tags) || !reflect.DeepEqual(untagged(*e), untagged(want)) {
		return fmt.Errorf("read %+v, want %+v", *e, want)
	}
	return nil
}

func untagged(e promised) promised {
	e.Tags = nil
	return e
}

// add adds an event that ends now, and may take effect again as often as again.
func (m *promises) add(began time.Time, e promisedEvent, r harness.TransactionResult, again int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	op := porcupine.Operation{Input: e, Call: began.UnixNano(), Output: r, Return: time.Now().UnixNano()}
	if r.Outcome == harness.Unknown {
		again++
	} else {
		m.known = append(m.known, op)
	}
	op.Return, op.Output = math.MaxInt64, harness.TransactionResult{Outcome: harness.Unknown}
	if r.Outcome == harness.Applied || r.Outcome == harness.Unknown {
		m.unknown = append(m.unknown, slices.Repeat([]porcupine.Operation{op}, again)...)
	}
}

// read adds the result of a read of one entity.
func (m *promises) read(began time.Time, key keys.Key, version string) {
	e := promisedEvent{match: func(e *promised) bool { return e.key() == key }, want: map[keys.Key]string{}}
	if version != "" {
		e.want[key] = version
	}
	m.add(began, e, harness.TransactionResult{Outcome: harness.Applied}, 0)
}

// lookup adds the result of a query of a Lookup: an entity that does not change meanwhile is returned exactly once.
func (m *promises) lookup(began time.Time, match func(*promised) bool, found map[keys.Key]int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lookups = append(m.lookups, lookupRead{began.UnixNano(), time.Now().UnixNano(), match, found})
}

// quiet reports whether no operation changes the entity during l.
func (m *promises) quiet(key keys.Key, l lookupRead) bool {
	for _, op := range slices.Concat(m.known, m.unknown) {
		for _, w := range op.Input.(promisedEvent).writes {
			if w.key == key && op.Call <= l.ended && op.Return >= l.began {
				return false
			}
		}
	}
	return true
}

// check returns an error unless some order of the operations explains all results: each was applied between its call and its
// return, a refused one had no effect, and one of unknown outcome was applied later or never.
func (m *promises) check(all []keys.Key) error {
	for _, l := range m.lookups {
		for _, key := range all {
			if !m.quiet(key, l) {
				continue
			}
			if l.found[key] > 1 {
				return fmt.Errorf("a lookup returned %v %d times", key, l.found[key])
			}
			e := promisedEvent{match: func(e *promised) bool { return e.key() == key && l.match(e) }, want: map[keys.Key]string{}}
			if l.found[key] == 1 {
				e.want[key] = ""
			}
			done := harness.TransactionResult{Outcome: harness.Applied}
			m.known = append(m.known, porcupine.Operation{Input: e, Call: l.began, Return: l.ended, Output: done})
		}
	}
	model := porcupine.Model{
		Init: func() any { return map[keys.Key]string{} },
		Step: func(state, in, out any) (bool, any) {
			return m.step(state.(map[keys.Key]string), in.(promisedEvent), out.(harness.TransactionResult))
		},
		Equal: func(a, b any) bool { return maps.Equal(a.(map[keys.Key]string), b.(map[keys.Key]string)) },
	}
	for _, unknown := range [][]porcupine.Operation{nil, m.observed(), m.unknown} {
		if m.steps = 0; porcupine.CheckOperations(model, slices.Concat(m.known, unknown)) {
			return nil
		}
	}
	if m.steps > maxSteps {
		return harness.ErrUndecided
	}
	var text strings.Builder
	for _, op := range slices.Concat(m.known, m.unknown) {
		e := op.Input.(promisedEvent)
		fmt.Fprintf(&text, "\n%s to %s: %+v, read %v %d: %+v", clock(op.Call), clock(op.Return), e.writes, e.want, e.count, op.Output)
	}
	for _, version := range slices.Sorted(maps.Keys(m.versions)) {
		fmt.Fprintf(&text, "\n%s: %+v", version, m.versions[version])
	}
	return fmt.Errorf("the results have no order:%s", text.String())
}

// maxSteps is how many steps of the search for an order are tried: with operations of unknown outcome it takes exponential time.
const maxSteps = 1_000_000

// observed returns the operations of unknown outcome that others show to have been applied, and the deletes among them.
func (m *promises) observed() (some []porcupine.Operation) {
	seen := map[string]bool{"": true}
	note := func(e promisedEvent) {
		for _, version := range e.want {
			seen[version] = true
		}
		for _, w := range e.writes {
			seen[w.saw] = true
		}
	}
	for _, op := range m.known {
		note(op.Input.(promisedEvent))
	}
	rest := slices.Clone(m.unknown)
	for n := -1; n != len(some); {
		n = len(some)
		rest = slices.DeleteFunc(rest, func(op porcupine.Operation) bool {
			e := op.Input.(promisedEvent)
			applied := slices.ContainsFunc(e.writes, func(w promisedWrite) bool { return seen[w.version] })
			if applied {
				some = append(some, op)
				note(e)
			}
			return applied
		})
	}
	return some
}

func clock(nano int64) string {
	if nano == math.MaxInt64 {
		return "ever"
	}
	return time.Unix(0, nano).UTC().Format("02 15:04:05.000")
}

func (m *promises) step(rows map[keys.Key]string, e promisedEvent, r harness.TransactionResult) (bool, map[keys.Key]string) {
	if m.steps++; m.steps > maxSteps {
		return false, rows
	}
	if e.match != nil {
		found := map[keys.Key]string{}
		for key, version := range rows {
			if v := m.versions[version]; e.match(&v) {
				found[key] = version
			}
		}
		if e.want == nil {
			return len(found) == e.count, rows
		}
		return maps.EqualFunc(e.want, found, func(want, is string) bool { return want == "" || want == is }), rows
	}
	switch exists := rows[e.writes[r.Failed].key] != ""; r.Outcome {
	case harness.NeverRan:
		return true, rows
	case harness.Exists, harness.Changed: // the same content may have been stored again under another ETag
		return exists, rows
	case harness.Missing:
		return !exists, rows
	}
	next := maps.Clone(rows)
	for _, w := range e.writes {
		was := next[w.key]
		if w.kind == harness.InsertRow && was != "" || w.kind == harness.UpdateRow && (was == "" || was != w.saw) ||
			(w.kind == harness.DeleteRow || w.kind == harness.TouchRow) && was == "" {
			return r.Outcome == harness.Unknown, rows
		}
		if w.kind == harness.TouchRow {
			continue
		}
		if next[w.key] = w.version; w.version == "" {
			delete(next, w.key)
		}
	}
	if m.shared(next, e.writes[0].together) {
		return r.Outcome == harness.Unknown, rows
	}
	return true, next
}

// shared reports whether two entities have the same unique value, apart from those that are about to be written together.
func (m *promises) shared(rows map[keys.Key]string, together map[keys.Key][]string) bool {
	written := func(key keys.Key) bool { return together[key] == nil || slices.Contains(together[key], rows[key]) }
	for _, value := range m.unique {
		for key, version := range rows {
			for other, version2 := range rows {
				a, b := m.versions[version], m.versions[version2]
				if v := value(&a); key != other && v != "" && v == value(&b) && written(key) && written(other) {
					return true
				}
			}
		}
	}
	return false
}

// promisedOutcome is what the caller of a write knows by the documentation: what is not of unknown outcome was not applied.
func promisedOutcome(p *harness.Process, err error) harness.TransactionResult {
	r := harness.TransactionResult{Outcome: harness.NeverRan}
	var duplicate *patterns.DuplicateError
	var batch *patterns.BatchError
	if errors.As(err, &batch) {
		r.Failed = batch.Index
	}
	switch {
	case p.Dead(), errors.Is(err, patterns.ErrOutcomeUnknown):
		r.Outcome = harness.Unknown
	case err == nil:
		r.Outcome = harness.Applied
	case errors.As(err, &duplicate), r.Failed < 0:
	case errors.Is(err, patterns.ErrExists):
		r.Outcome = harness.Exists
	case errors.Is(err, patterns.ErrNotFound):
		r.Outcome = harness.Missing
	case errors.Is(err, patterns.ErrConflict):
		r.Outcome = harness.Changed
	}
	r.Failed = max(r.Failed, 0)
	return r
}
