package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// print prints a result: as JSON with the flag -json, otherwise as text. It removes the progress.
func (c *cli) print(result any, text string) error {
	c.endProgress()
	if !c.json {
		_, err := fmt.Fprintln(c.out, text)
		return err
	}
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	return e.Encode(result)
}

// figure is a number of a summary.
type figure struct {
	n    int
	name string
}

// summary prints the last line of a command, and returns errFound if it found something.
func (c *cli) summary(found bool, note string, figures ...figure) error {
	all := map[string]any{}
	var texts []string
	for _, f := range figures {
		all[f.name] = f.n
		texts = append(texts, fmt.Sprintf("%d %s", f.n, f.name))
	}
	text := strings.Join(texts, ", ")
	if note != "" {
		all["note"] = note
		text += " (" + note + ")"
	}
	err := c.print(all, text)
	if err == nil && found {
		return errFound
	}
	return err
}

// noteOf returns the note of the summary of a dry run.
func noteOf(dryRun bool) string {
	if dryRun {
		return "dry run: nothing was changed"
	}
	return ""
}

// progress prints how far a command is, on a terminal only.
type progress struct {
	*cli
	unit           string
	start          int64 // what earlier runs have done
	began, printed time.Time
}

func (c *cli) progress(unit string, start int64) *progress {
	return &progress{c, unit, start, time.Now(), time.Now()}
}

// update prints what is done. total is 0 if it is unknown.
func (p *progress) update(done, total int64) {
	if p.terminal && time.Since(p.printed) >= 200*time.Millisecond {
		p.printed = time.Now()
		fmt.Fprint(p.err, "\r"+p.text(done, total, time.Since(p.began))+"\x1b[K")
	}
}

// text computes the rate, and the remaining time, from what this run has done.
func (p *progress) text(done, total int64, elapsed time.Duration) string {
	rate := float64(done-p.start) / max(elapsed.Seconds(), 1e-3)
	text := fmt.Sprintf("%d %s, %.0f/s", done, p.unit, rate)
	if total > 0 && rate > 0 {
		left := time.Duration(float64(max(total-done, 0)) / rate * float64(time.Second))
		text += fmt.Sprintf(", %d%%, %v left", 100*done/total, left.Round(time.Second))
	}
	return text
}

// endProgress removes the line.
func (c *cli) endProgress() {
	if c.terminal {
		fmt.Fprint(c.err, "\r\x1b[K")
	}
}
