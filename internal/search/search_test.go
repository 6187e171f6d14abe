package search_test

import (
	"flag"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/search"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

var (
	night    = flag.Bool("search.night", false, "all cases with all faults, with a bound that grows")
	switches = flag.Int("search.switches", bounded, "likewise, but with this bound for how often a run changes between processes that could go on; -1 for none")
)

const (
	bounded   = -2          // the bounds of faults apply
	unbounded = math.MaxInt // nothing was left out
)

// nightRuns are the runs of a search at night: if a bound needs more, it does not grow any more.
const nightRuns = 1000

// nightBound returns the bound that follows at night. Most of the cases that end with two switches need none, and with each more all that
// was searched before is searched again.
func nightBound(switches int, ended bool) (next int, more bool) {
	switch {
	case switches == 2:
		return -1, ended
	case switches < 0:
		return 3, !ended
	}
	return switches + 1, ended
}

// faults is what happens next to the orders of requests. Each case is searched with each.
var faults = []struct {
	name     string
	crashes  int
	late     int
	pause    time.Duration
	messages int  // that a worker handles meanwhile, if the case has no other number
	each     bool // the gate searches all cases with it, not only the short ones
	finisher int  // how many clients have a Finisher, -1 for all but the first, in the cases with an outbox; the others are like those of an earlier version
	gate     int  // switches in the gate; the fault is left to the night if that is negative
}{
	{name: "no fault", each: true, gate: 2},
	{name: "a worker", messages: 1, gate: 1},
	{name: "a crash", messages: 1, crashes: 1},
	{name: "a late request", late: 1},
	{name: "a pause", messages: 2, pause: 2 * expiry},
	{name: "a late request next to a worker", messages: 1, late: 1, gate: -1},
	{name: "a Finisher", finisher: 3, gate: 2},
	{name: "a Finisher of one client", finisher: 1, gate: 2},
	{name: "a Finisher of the other client", finisher: -1, gate: 2},
	{name: "a Finisher and a worker", finisher: 3, messages: 1, gate: 1},
	{name: "a Finisher and a crash", finisher: 3, messages: 1, crashes: 1, gate: 0},
	{name: "a Finisher and a late request", finisher: 3, late: 1, gate: 0},
	{name: "a late request and a crash", messages: 1, crashes: 1, late: 1, gate: -1},
}

// A run allocates much and keeps little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(1 << 30)
	os.Exit(m.Run())
}

// Every order of the requests of each small case keeps the promises of the outbox.
func TestSmallCases(t *testing.T) {
	t.Setenv(storagetest.ProductionVariable, "") // every run begins with the same clocks
	began := time.Now()
	var mu sync.Mutex
	var states, runs int
	finished := map[int]int{} // searches by the largest bound with which they ended, -1 for none
	t.Cleanup(func() {
		whole := finished[unbounded]
		delete(finished, unbounded)
		t.Logf("%d states, %d runs, %v; %d searches left nothing out, others by the most switches: %v", states, runs, time.Since(began).Round(time.Second), whole, finished)
	})
	for i := range cases {
		for _, f := range faults {
			s := cases[i]
			all := *night || *switches != bounded
			if !all && (f.gate < 0 || s.long && !f.each) {
				continue
			}
			if f.finisher != 0 && !slices.ContainsFunc(s.views, func(v string) bool { return slices.Contains([]string{"badge", "name", "group", "label", "total"}, v) }) {
				continue
			}
			s.messages, s.late, s.pauses, s.finishers = max(s.messages, f.messages), f.late > 0, f.pause > 0, f.finisher
			t.Run(s.name+", "+f.name, func(t *testing.T) {
				if all {
					t.Parallel()
				}
				c := &search.Case{Name: s.name, Start: s.start, Crashes: f.crashes, Late: f.late, Pause: f.pause, Switches: f.gate}
				switch {
				case *switches != bounded:
					c.Switches = *switches
				case *night:
					c.Switches, c.Runs = 0, nightRuns
				}
				reached, most, more := -1, 0, true
				for more {
					begin := time.Now()
					r := search.Run(t, c)
					t.Logf("at most %d switches: %v, %v", c.Switches, r, time.Since(begin).Round(time.Millisecond))
					if r.Violation != nil {
						trace, _ := search.Replay(t, c, r.Choices)
						t.Errorf("violation: %v\n%s\n%s", r.Violation, search.Literal(r.Choices), strings.Join(trace, "\n"))
						return
					}
					most = max(most, r.States)
					mu.Lock()
					runs += r.Runs
					mu.Unlock()
					if !r.Unfinished && !r.Bounded {
						reached = unbounded
						break
					}
					if !r.Unfinished {
						reached = c.Switches
					}
					if more = c.Runs > 0; more {
						c.Switches, more = nightBound(c.Switches, !r.Unfinished)
					}
				}
				mu.Lock()
				defer mu.Unlock()
				states += most
				finished[reached]++
			})
		}
	}
}

func one(n int32) thing { return thing{ID: "1", N: n} }

func badge(id, value string, n int32) thing { return thing{ID: id, Badge: value, N: n} }
func name(id, value string, n int32) thing  { return thing{ID: id, Name: value, N: n} }
func group(id, value string, n int32) thing { return thing{ID: id, Group: value, N: n} }
func place(id, value string, n int32) thing { return thing{ID: id, Place: value, N: n} }
func email(id, value string, n int32) thing { return thing{ID: id, Email: value, N: n} }

func setBadge(value string) func(*thing)     { return func(t *thing) { t.Badge = value } }
func tag(id, value string, n int32) thing    { return thing{ID: id, Tag: value, N: n} }
func ending(id string, hours, n int32) thing { return thing{ID: id, Ends: hours, N: n} }
func setEnds(hours int32) func(*thing)       { return func(t *thing) { t.Ends = hours } }
func setTag(value string) func(*thing)       { return func(t *thing) { t.Tag = value } }
func setName(value string) func(*thing)      { return func(t *thing) { t.Name = value } }
func setGroup(value string) func(*thing)     { return func(t *thing) { t.Group = value } }
func setEmail(value string) func(*thing)     { return func(t *thing) { t.Email = value } }
func setLabel(value string) func(*thing)     { return func(t *thing) { t.Label = value } }

// The cases. Each has two clients and, with faults, a worker.
var cases = []script{
	{
		name: "a unique copy is inserted next to its delete", views: []string{"badge"},
		clients: [][]op{{insert(badge("1", "b", 1))}, {remove("1")}},
	},
	{
		name: "a unique copy is inserted next to workers", views: []string{"badge"}, messages: 1,
		clients: [][]op{{insert(badge("1", "b", 1))}},
	},
	{
		name: "two entities want one unique copy", views: []string{"badge"},
		clients: [][]op{{insert(badge("1", "b", 1))}, {put(badge("2", "b", 2))}},
	},
	{
		name: "the insert of a unique copy fails next to a delete", long: true, views: []string{"badge"},
		before:  []op{insert(badge("1", "b", 1))},
		clients: [][]op{{insert(badge("1", "b", 2))}, {remove("1")}},
	},
	{
		name: "a unique value passes to another entity", long: true, views: []string{"badge"},
		before:  []op{insert(badge("1", "b", 1))},
		clients: [][]op{{update("1", 2, setBadge(""))}, {put(badge("2", "b", 3))}},
	},
	{
		name: "a unique value is changed and taken back", long: true, views: []string{"badge"},
		before:  []op{insert(badge("1", "a", 1))},
		clients: [][]op{{update("1", 2, setBadge("b")), update("1", 3, setBadge("a"))}, {remove("1")}},
	},
	{
		name: "a unique value is given up next to its return", long: true, views: []string{"badge"},
		before:  []op{insert(badge("1", "a", 1))},
		clients: [][]op{{update("1", 2, setBadge(""))}, {update("1", 3, setBadge("a"))}},
	},
	{
		name: "the content of a unique copy changes twice", views: []string{"badge"},
		before:  []op{insert(badge("1", "b", 1))},
		clients: [][]op{{update("1", 2, setBadge("b"))}, {update("1", 3, setBadge("b"))}},
	},
	{
		name: "a unique value is given up next to its return, requests together", long: true, views: []string{"badge"}, parallel: 2,
		before:  []op{insert(badge("1", "a", 1))},
		clients: [][]op{{update("1", 2, setBadge(""))}, {update("1", 3, setBadge("a"))}},
	},
	{
		name: "a unique value is taken back while another entity wants it", long: true, views: []string{"badge"},
		before:  []op{insert(badge("1", "a", 1))},
		clients: [][]op{{update("1", 2, setBadge(""))}, {update("1", 3, setBadge("a"))}, {put(badge("2", "a", 4))}},
	},
	{
		name: "a row is repaired while its value is taken and another entity wants it", long: true, views: []string{"badge"},
		before:  []op{insert(badge("1", "a", 1))},
		clients: [][]op{{repair("1", "b")}, {update("1", 2, setBadge("b"))}, {put(badge("2", "b", 3))}},
	},
	{
		name: "a copy is inserted next to its delete", views: []string{"name"},
		clients: [][]op{{insert(name("1", "x", 1))}, {remove("1")}},
	},
	{
		name: "the content of a copy changes twice", views: []string{"name"},
		before:  []op{insert(name("1", "x", 1))},
		clients: [][]op{{update("1", 2, setName("x"))}, {update("1", 3, setName("x"))}},
	},
	{
		name: "a copy moves and returns", long: true, views: []string{"name"},
		before:  []op{insert(name("1", "x", 1))},
		clients: [][]op{{update("1", 2, setName("y")), update("1", 3, setName("x"))}, {put(name("1", "y", 4))}},
	},
	{
		name: "two entities join a list", views: []string{"group"},
		clients: [][]op{{insert(group("1", "g", 1))}, {insert(group("2", "g", 2))}},
	},
	{
		name: "an entity changes its list next to its delete", long: true, views: []string{"group"},
		before:  []op{insert(group("1", "g", 1))},
		clients: [][]op{{update("1", 2, setGroup("h"))}, {remove("1")}},
	},
	{
		name: "an entity joins an existing list next to its delete", views: []string{"group"},
		before:  []op{insert(group("2", "g", 2))},
		clients: [][]op{{insert(group("1", "g", 1))}, {remove("1")}},
	},
	{
		name: "an insert fails next to a delete", long: true, views: []string{"group"},
		before:  []op{insert(group("1", "g", 1)), insert(group("2", "g", 2))},
		clients: [][]op{{insert(group("1", "g", 3))}, {remove("1")}},
	},
	{
		name: "an entity changes its list next to its return", long: true, views: []string{"group"},
		before:  []op{insert(group("1", "g", 1)), insert(group("2", "g", 2))},
		clients: [][]op{{update("1", 3, setGroup("h"))}, {update("1", 4, setGroup("g"))}},
	},
	{
		name: "an entity changes its list twice and returns", long: true, views: []string{"group"},
		before:  []op{insert(group("1", "g", 1)), insert(group("2", "g", 2))},
		clients: [][]op{{update("1", 3, setGroup("h")), update("1", 4, setGroup("g"))}, {update("1", 5, setGroup("h"))}},
	},
	{
		name: "an entity leaves a list and gets a unique copy next to its return", long: true, views: []string{"group", "badge"},
		before:  []op{insert(group("1", "g", 1)), insert(group("2", "g", 2))},
		clients: [][]op{{update("1", 3, setGroup("h")), update("1", 4, setBadge("b"))}, {update("1", 5, setGroup("g"))}},
	},
	{
		name: "copies of two entities change next to the return of one", long: true, views: []string{"label"},
		before:  []op{insert(thing{ID: "1", Label: "x", N: 1}), insert(thing{ID: "2", Label: "x", N: 2})},
		clients: [][]op{{update("1", 3, setLabel("y")), update("2", 4, setLabel("y"))}, {update("1", 5, setLabel("x"))}},
	},
	{
		name: "the content of a copy changes back", long: true, views: []string{"label"},
		before:  []op{insert(thing{ID: "1", Label: "x", N: 1})},
		clients: [][]op{{update("1", 2, setLabel("y"))}, {update("1", 3, setLabel("x"))}},
	},
	{
		name: "a counted entity is inserted next to its delete", long: true, views: []string{"total"},
		before:  []op{insert(thing{ID: "2", N: 2})},
		clients: [][]op{{insert(one(1))}, {remove("1")}},
	},
	{
		name: "a transaction of two in one list next to a delete", long: true, views: []string{"group"},
		before:  []op{insert(group("3", "g", 3))},
		clients: [][]op{{together(insertOf(group("1", "g", 1)), insertOf(group("2", "g", 2)))}, {remove("1")}},
	},
	{
		name: "two entities are counted", long: true, views: []string{"total"},
		clients: [][]op{{insert(one(1))}, {insert(thing{ID: "2", N: 2})}},
	},
	{
		name: "a counted entity changes next to its delete", long: true, views: []string{"total"},
		before:  []op{insert(one(1))},
		clients: [][]op{{update("1", 2, func(*thing) {})}, {remove("1")}},
	},
	{
		name: "two entities want one unique row of the partition", views: []string{"email"},
		clients: [][]op{{insert(email("1", "e", 1))}, {put(email("2", "e", 2))}},
	},
	{
		name: "a unique row of the partition changes and returns", views: []string{"email"},
		before:  []op{insert(email("1", "e", 1))},
		clients: [][]op{{update("1", 2, setEmail("f")), update("1", 3, setEmail("e"))}, {remove("1")}},
	},
	{
		name: "an entity with a merged row is inserted next to its delete", views: []string{"place"},
		before:  []op{insert(place("1", "p", 1))},
		clients: [][]op{{insert(place("1", "p", 2))}, {remove("1")}},
	},
	{
		name: "an entity with a merged row is put next to its delete and return", long: true, views: []string{"place"},
		before:  []op{insert(place("1", "p", 1))},
		clients: [][]op{{put(place("1", "p", 2))}, {remove("1"), insert(place("1", "q", 3))}},
	},
	{
		name: "a transaction of two next to a delete", long: true, views: []string{"badge"},
		clients: [][]op{{together(insertOf(badge("1", "b", 1)), insertOf(badge("2", "c", 2)))}, {remove("1")}},
	},
	{
		name: "a lookup row is inserted next to its delete", views: []string{"tag"},
		clients: [][]op{{insert(tag("1", "a", 1))}, {remove("1")}},
	},
	{
		name: "a lookup row is inserted next to its delete, requests sent again", long: true, views: []string{"tag"}, retries: 1,
		clients: [][]op{{insert(tag("1", "a", 1))}, {remove("1")}},
	},
	{
		name: "a looked up value is inserted twice", views: []string{"tag"},
		clients: [][]op{{insert(tag("1", "a", 1))}, {put(tag("1", "a", 2))}},
	},
	{
		name: "a looked up value changes next to its return", views: []string{"tag"},
		before:  []op{insert(tag("1", "a", 1))},
		clients: [][]op{{update("1", 2, setTag("b"))}, {update("1", 3, setTag("a"))}},
	},
	{
		name: "a looked up value changes and returns next to its delete", long: true, views: []string{"tag"},
		before:  []op{insert(tag("1", "a", 1))},
		clients: [][]op{{update("1", 2, setTag("b")), update("1", 3, setTag("a"))}, {remove("1")}},
	},
	{
		name: "an entity with a looked up value is inserted again", long: true, views: []string{"tag"},
		before:  []op{insert(tag("1", "a", 1))},
		clients: [][]op{{remove("1"), insert(tag("1", "a", 2))}, {update("1", 3, setTag("b"))}},
	},
	{
		name: "a reader of lookups next to changes", long: true, views: []string{"tag"},
		before:  []op{insert(tag("9", "a", 9)), insert(tag("1", "a", 1))},
		clients: [][]op{{update("1", 2, setTag("b")), update("1", 3, setTag("a"))}, {find("a")}},
	},
	{
		name: "a sweep of lookups next to changes", long: true, views: []string{"tag"},
		before:  []op{insert(tag("1", "a", 1))},
		clients: [][]op{{update("1", 2, setTag("b"))}, {sweep}},
	},
	{
		name: "a sweep of lookups next to an insert", long: true, views: []string{"tag"},
		clients: [][]op{{insert(tag("1", "a", 1))}, {sweep}},
	},
	{
		name: "a sweep of lookups begins next to an insert", long: true, views: []string{"tag"},
		before:  []op{announce},
		clients: [][]op{{insert(tag("1", "a", 1))}, {onMessage(sweep)}},
	},
	{
		name: "two entities with lookups in one transaction", long: true, views: []string{"tag"},
		clients: [][]op{{together(insertOf(tag("1", "a", 1)), insertOf(tag("2", "a", 2)))}, {remove("1")}},
	},
	{
		name: "a time is shortened next to a sweep", long: true, views: []string{"ends"},
		before:  []op{insert(ending("1", 1, 1)), update("1", 2, setEnds(2000)), wait},
		clients: [][]op{{update("1", 3, setEnds(1000))}, {sweepEnds}},
	},
	{
		name: "a time is postponed next to a sweep", views: []string{"ends"},
		before:  []op{insert(ending("1", 1, 1)), update("1", 2, setEnds(2000)), wait},
		clients: [][]op{{update("1", 3, setEnds(3000))}, {sweepEnds}},
	},
	{
		name: "a time is shortened and postponed next to a sweep", long: true, views: []string{"ends"},
		before:  []op{insert(ending("1", 1, 1)), update("1", 2, setEnds(3000)), wait},
		clients: [][]op{{update("1", 3, setEnds(1000)), update("1", 4, setEnds(2000))}, {sweepEnds}},
	},
	{
		name: "two sweeps meet an entity that was postponed", long: true, views: []string{"ends"},
		before:  []op{insert(ending("1", 1, 1)), update("1", 2, setEnds(2000)), wait},
		clients: [][]op{{sweepEnds}, {sweepEnds}},
	},
	{
		name: "two sweeps meet an entity that has expired", long: true, views: []string{"ends"},
		before:  []op{given(ending("1", 1, 1)), wait, expired("1")},
		clients: [][]op{{sweepEnds}, {sweepEnds}},
	},
	{
		name: "an entity that has expired is inserted again next to a sweep", long: true, views: []string{"ends"},
		before:  []op{given(ending("1", 1, 1)), wait, expired("1")},
		clients: [][]op{{insert(ending("1", 2000, 2))}, {sweepEnds}},
	},
	{
		name: "an entity is deleted and inserted again next to a sweep", long: true, views: []string{"ends"},
		before:  []op{insert(ending("1", 1, 1)), update("1", 2, setEnds(2000)), wait},
		clients: [][]op{{remove("1"), insert(ending("1", 1000, 3))}, {sweepEnds}},
	},
	{
		name: "an entity that has expired is inserted next to a sweep", long: true, views: []string{"ends"},
		before:  []op{wait},
		clients: [][]op{{given(ending("1", 1, 1))}, {sweepEnds}},
	},
	{
		name: "a sweep begins next to the insert of an entity that has expired", long: true, views: []string{"ends"},
		before:  []op{wait, announce},
		clients: [][]op{{given(ending("1", 1, 1))}, {onMessage(sweepEnds)}},
	},
	{
		name: "an entity that expires is inserted next to its delete", long: true, views: []string{"ends"},
		clients: [][]op{{insert(ending("1", 1000, 1))}, {remove("1")}},
	},
	{
		name: "the value of an entity that has expired is wanted next to a sweep", long: true, views: []string{"ends", "email"},
		before:  []op{given(thing{ID: "1", Ends: 1, Email: "e", N: 1}), wait, expired("1")},
		clients: [][]op{{insert(email("2", "e", 2))}, {sweepEnds}},
	},
	{
		name: "two clients begin the journal of a partition", views: []string{"history"},
		clients: [][]op{{insert(thing{ID: "1", N: 1})}, {insert(thing{ID: "1", N: 2}), remove("1")}},
	},
	{
		name: "an entity with a journal is deleted and inserted next to an update", views: []string{"history"},
		before:  []op{insert(thing{ID: "1", N: 1})},
		clients: [][]op{{update("1", 2, func(*thing) {})}, {remove("1"), insert(thing{ID: "1", N: 3})}},
	},
	{
		name: "a deleted entity is inserted next to a sweep of its journal", views: []string{"history"},
		before:  []op{insert(thing{ID: "1", N: 1}), remove("1"), wait},
		clients: [][]op{{insert(thing{ID: "1", N: 2}), remove("1")}, {sweepHistory}},
	},
	{
		name: "an entity is deleted and inserted next to a sweep of its journal", long: true, views: []string{"history"},
		before:  []op{insert(thing{ID: "1", N: 1}), update("1", 2, func(*thing) {}), wait},
		clients: [][]op{{remove("1"), insert(thing{ID: "1", N: 3})}, {sweepHistory}},
	},
	{
		name: "two sweeps of a journal next to an update", long: true, views: []string{"history"},
		before:  []op{insert(thing{ID: "1", N: 1}), insert(thing{ID: "2", N: 2}), remove("2"), wait},
		clients: [][]op{{update("1", 3, func(*thing) {}), insert(thing{ID: "2", N: 4})}, {sweepHistory}, {sweepHistory}},
	},
	{
		name: "a feed next to the begin of a partition", views: []string{"fed"}, messages: 1,
		clients: [][]op{{insert(thing{ID: "1", N: 1})}},
	},
	{
		name: "a feed next to two writers", long: true, views: []string{"fed"}, messages: 1,
		before:  []op{insert(thing{ID: "1", N: 1})},
		clients: [][]op{{update("1", 2, func(*thing) {})}, {remove("1"), insert(thing{ID: "1", N: 3})}},
	},
	{
		name: "two workers of a feed next to a writer", long: true, views: []string{"fed"}, messages: 2,
		before:  []op{insert(thing{ID: "1", N: 1})},
		clients: [][]op{{update("1", 2, func(*thing) {}), remove("1")}, {onAny}},
	},
	{
		name: "a feed next to a sweep", views: []string{"fed"}, messages: 1,
		before:  []op{insert(thing{ID: "1", N: 1}), closeEpoch, wait},
		clients: [][]op{{sweepFeed}},
	},
	{
		name: "a feed next to a sweep and a writer", long: true, views: []string{"fed"}, messages: 1,
		before:  []op{insert(thing{ID: "1", N: 1}), closeEpoch, wait},
		clients: [][]op{{update("1", 2, func(*thing) {}), remove("1")}, {sweepFeed}},
	},
	{
		name: "entities with a journal and a unique copy", long: true, views: []string{"history", "badge"},
		clients: [][]op{{insert(badge("1", "b", 1))}, {insert(badge("2", "b", 2)), remove("2")}}, messages: 1,
	},
	{
		name: "a lookup next to a unique copy", long: true, views: []string{"tag", "badge"},
		clients: [][]op{{insert(thing{ID: "1", Tag: "a", Badge: "b", N: 1})}, {remove("1")}},
	},
	{
		name: "a worker does what follows", long: true, views: []string{"badge"}, follow: later,
		clients: [][]op{{insert(badge("1", "b", 1))}, {remove("1")}}, messages: 2,
	},
}
