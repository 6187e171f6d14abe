package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Case is what a few processes do, and what must hold.
type Case struct {
	Name string

	// Start prepares a run. It must do the same in each.
	Start func(context.Context, *World) (*System, error)

	// How many faults a run has at most: crashes of a process, requests that arrive late.
	Crashes, Late int

	// Pause is how long one process of a run is paused, 0 for no pause. Nothing is on its way meanwhile.
	Pause time.Duration

	// Switches is how often a run changes from a process that could go on to another one, at most. Negative is without a bound.
	Switches int

	// Runs ends the search after so many, if it is positive.
	Runs int
}

// System is the processes of one run.
type System struct {
	Processes []Process
	Steady    []*Client                   // those without faults
	Always    func([]Row) error           // must hold after each change of a row
	Finish    func(context.Context) error // is called after the processes have ended, and checks what they have left
}

// Process is one process of a run.
type Process struct {
	Client *Client
	Run    func(context.Context)
}

// Report is what a search has found.
type Report struct {
	States, Runs, Ends int  // Ends are the states in which no process had anything left to do
	Longest            int  // list of choices
	Bounded            bool // something was left out because of Switches
	Unfinished         bool // likewise, because of Runs
	Violation          error
	Choices            []string // that lead to the violation
}

func (r *Report) String() string {
	return fmt.Sprintf("%d states, %d ends, %d runs, at most %d choices", r.States, r.Ends, r.Runs, r.Longest)
}

// node is a state on the path of the present run.
type node struct {
	todo     []*option // not made yet
	sleep    []*option // made elsewhere, as they are independent of what was made since
	made     []*option // made here
	present  *option
	switches int
	last     string
}

// visit is how a state was explored.
type visit struct {
	switches int
	last     string
	asleep   map[choice]bool
}

type search struct {
	t       *testing.T
	c       *Case
	path    []*node
	visited map[[16]byte][]visit
	ends    map[[16]byte]bool
	Report
}

// Run explores the case. It ends at the first violation.
func Run(t *testing.T, c *Case) *Report {
	t.Helper()
	s := &search{t: t, c: c, visited: map[[16]byte][]visit{}, ends: map[[16]byte]bool{}}
	for {
		s.Runs++
		synctest.Test(t, func(t *testing.T) { s.once(t.Context()) })
		if s.Violation != nil {
			return &s.Report
		}
		for len(s.path) > 0 && len(s.path[len(s.path)-1].todo) == 0 {
			s.path = s.path[:len(s.path)-1]
		}
		if len(s.path) == 0 {
			return &s.Report
		}
		if s.Runs == c.Runs {
			s.Unfinished = true
			return &s.Report
		}
	}
}

// once makes one run, along the path to the first choice that was not made, and from there on to a state that leads to nothing new.
func (s *search) once(ctx context.Context) {
	r, err := startRun(ctx, s.c)
	if err != nil {
		s.Violation = err
		return
	}
	for depth := 0; err == nil; depth++ {
		if depth == len(s.path) {
			var n *node
			if n, err = s.enter(r, depth); err != nil {
				break
			}
			s.path = append(s.path, n)
		}
		n := s.path[depth]
		if depth == len(s.path)-1 {
			if n.present != nil {
				n.made = append(n.made, n.present)
			}
			n.present, n.todo = n.todo[0], n.todo[1:]
		}
		var o *option
		if o, err = match(r.options(), n.present.choice); err == nil {
			err = r.make(o)
			n.present.ends = o.ends
		}
		s.Longest = max(s.Longest, depth+1)
	}
	if errors.Is(err, errEnd) {
		err = nil
		if r.quiet {
			err = r.finish()
		}
	}
	r.stop()
	if err != nil {
		s.Violation = err
		for _, n := range s.path {
			if n.present != nil {
				s.Choices = append(s.Choices, n.present.String())
			}
		}
	}
}

// match returns the option that is the choice. If there is none, a process depends on more than its replies.
func match(options []*option, c choice) (*option, error) {
	for _, o := range options {
		if o.choice == c {
			return o, nil
		}
	}
	return nil, fmt.Errorf("a run is not the same again: %q is not possible, but %q", c, options)
}

// enter returns the node of the present state, or errEnd if nothing new follows from it.
func (s *search) enter(r *run, depth int) (*node, error) {
	n := &node{last: r.last}
	if depth > 0 {
		before := s.path[depth-1]
		n.switches = before.switches + before.present.cost
		for _, o := range append(slices.Clone(before.sleep), before.made...) {
			if independent(o, before.present) {
				n.sleep = append(n.sleep, o)
			}
		}
	}
	options := r.options()
	state := r.state(len(options) == 0)
	if len(options) == 0 {
		if s.ends[state] {
			return nil, errEnd
		}
		s.ends[state] = true
		s.Ends++
		s.States++
		r.quiet = true
		return nil, errEnd
	}
	asleep := map[choice]bool{}
	for _, o := range n.sleep {
		asleep[o.choice] = true
	}
	visits := s.visited[state]
	if len(visits) == 0 {
		s.States++
	}
	todo := map[choice]bool{}
	for _, o := range options {
		o.cost = costOf(o, n.last, options)
		if s.c.Switches >= 0 && n.switches+o.cost > s.c.Switches {
			s.Bounded = true
			continue
		}
		todo[o.choice] = !asleep[o.choice]
	}
	for _, v := range visits {
		if s.c.Switches >= 0 && (v.switches > n.switches || v.last != n.last) {
			continue
		}
		for c := range todo { // it was explored from here, unless it was asleep
			todo[c] = todo[c] && v.asleep[c]
		}
	}
	for _, o := range options {
		if todo[o.choice] {
			n.todo = append(n.todo, o)
		}
	}
	if len(n.todo) == 0 {
		return nil, errEnd
	}
	s.visited[state] = append(visits, visit{n.switches, n.last, asleep})
	return n, nil
}

// costOf returns 1 if o is a switch from a process that could go on to another one.
func costOf(o *option, last string, options []*option) int {
	if o.process == last || last == "" || o.process == "" || o.kind == arrive {
		return 0
	}
	for _, other := range options {
		if other.process == last && (other.kind == carryOut || other.kind == resume) {
			return 1
		}
	}
	return 0
}

// Replay makes the choices of a list, and then those without a fault in order, and returns what it did and what was violated.
func Replay(t *testing.T, c *Case, choices []string) (trace []string, violation error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r, err := startRun(t.Context(), c)
		if err != nil {
			violation = err
			return
		}
		r.keep = true
		for err == nil {
			options := r.options()
			if len(choices) == 0 {
				options = slices.DeleteFunc(options, func(o *option) bool { return o.kind == delay || o.kind == crash || o.kind == hold })
			}
			if len(options) == 0 {
				err = r.finish()
				break
			}
			o := options[0]
			if len(choices) > 0 {
				i := slices.IndexFunc(options, func(o *option) bool { return o.String() == choices[0] })
				if i < 0 {
					err = fmt.Errorf("%q is not possible, but %q", choices[0], options)
					break
				}
				o, choices = options[i], choices[1:]
			}
			err = r.make(o)
		}
		r.stop()
		violation, trace = err, r.steps
	})
	return trace, violation
}

// Literal returns choices as elements of a Go literal, to be kept in a test.
func Literal(choices []string) string {
	var b strings.Builder
	for _, c := range choices {
		fmt.Fprintf(&b, "\t%q,\n", c)
	}
	return b.String()
}
