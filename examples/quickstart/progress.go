package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress shows the progress of a long load on a terminal.
type progress struct {
	out  io.Writer // nil if there is no terminal
	next time.Time
}

func newProgress(f *os.File) *progress {
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return &progress{out: f, next: time.Now().Add(time.Second)}
	}
	return &progress{}
}

// at is called often. It prints at most five times per second, and nothing in the first
// second.
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
