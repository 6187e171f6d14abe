package main

import (
	"fmt"
	"io"
	"time"
)

// progress prints how far a command is, on a terminal only. The nil progress prints nothing.
type progress struct {
	out     io.Writer
	what    string
	began   time.Time
	start   int64 // done before this run
	printed time.Time
}

func (c *cli) progress(what string, start int64) *progress {
	if !c.terminal {
		return nil
	}
	now := time.Now()
	return &progress{c.err, what, now, start, now}
}

// update reports rows, and how much of what is to be done is done; total is 0 if that is unknown.
func (p *progress) update(rows int, done, total int64) {
	if p == nil || time.Since(p.printed) < 200*time.Millisecond {
		return
	}
	p.printed = time.Now()
	fmt.Fprintf(p.out, "\r%s\x1b[K", progressText(p.what, rows, done-p.start, done, total, time.Since(p.began)))
}

// end removes the line.
func (p *progress) end() {
	if p != nil {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// progressText computes the rate from what this run has done.
func progressText(what string, rows int, doneNow, done, total int64, elapsed time.Duration) string {
	text := fmt.Sprintf("%d rows", rows)
	perSecond := float64(doneNow) / max(elapsed.Seconds(), 1e-3)
	text += fmt.Sprintf(", %.0f %s/s", perSecond, what)
	if total > 0 && perSecond > 0 {
		left := time.Duration(float64(max(total-done, 0)) / perSecond * float64(time.Second))
		text += fmt.Sprintf(", %d%%, %v left", 100*done/total, left.Round(time.Second))
	}
	return text
}
