package search

import (
	"fmt"
	"strings"
)

// kind is what a choice does.
type kind uint8

const (
	carryOut kind = iota // a request is carried out and answered
	delay                // it arrives later, and its sender gets an error now
	arrive               // a delayed one arrives
	crash                // a process ends
	hold                 // a request is carried out, and its process paused
	pause                // time passes
	resume               // the paused process gets its reply
)

var kindNames = [...]string{"", " without a reply", " arrives", " crashes", ", then it is paused", "a long time passes", " goes on"}

// choice identifies a choice in every run.
type choice struct {
	process string // "" for time
	kind    kind
	request string // its text
	nth     int    // of equal ones that wait
	among   string
}

func (c choice) String() string {
	request, _, _ := strings.Cut(c.request, "\n")
	if c.among != "" {
		request += " " + c.among
	}
	if c.nth > 0 {
		request += fmt.Sprint(" again, ", c.nth)
	}
	if request != "" {
		request = ": " + request
	}
	return c.process + request + kindNames[c.kind]
}

// option is a choice in a state, with what decides whether it is independent of others.
type option struct {
	choice
	access
	begins bool // it is the first request of an operation
	ends   bool // an operation ended with it, which is known once it was made
	cost   int  // 1 if it is a switch from a process that could go on

	request *request // in this run
}

// independent reports whether the order of two choices that are possible in a state does not matter.
func independent(a, b *option) bool {
	if a.process == b.process && a.kind != arrive && b.kind != arrive || a.conflicts(b.access) {
		return false
	}
	if a.ends && b.begins || b.ends && a.begins { // the order of operations must agree with that of their results
		return false
	}
	both := func(k kind) bool { return a.kind == k && b.kind == k }
	// At most one process crashes, one request is late, and one process is paused.
	return !both(delay) && !both(crash) && !both(hold) && a.kind != pause && b.kind != pause
}
