package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress shows how far a long load is, on a terminal only.
type progress struct {
	out  io.Writer // nil: no terminal
	next time.Time
}

func newProgress(f *os.File) *progress {
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return &progress{out: f, next: time.Now().Add(time.Second)}
	}
	return &progress{}
}

// at is called often; it prints at most five times a second, and nothing in the
// first.
func (p *progress) at(what string, n int) {
	if p.out == nil {
		return
	}
	if now := time.Now(); now.After(p.next) {
		p.next = now.Add(200 * time.Millisecond)
		fmt.Fprintf(p.out, "\r\033[K%s: %d", what, n)
	}
}

func (p *progress) done() {
	if p.out != nil {
		fmt.Fprint(p.out, "\r\033[K")
	}
}
