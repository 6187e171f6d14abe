package tablectl

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// print prints a result: as JSON with the flag -json, otherwise as text. It removes the progress.
func (c *cli) print(result any, text string) error {
	c.endProgress()
	if c.json {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(result); err != nil {
			return err
		}
		text = strings.TrimSuffix(b.String(), "\n")
	}
	return c.line([]byte(text))
}

// line prints a line, such as a row, which is JSON with and without -json.
func (c *cli) line(text []byte) error {
	_, err := fmt.Fprintln(c.out, printable(string(text)))
	return err
}

// warn prints a line that is not part of the result.
func (c *cli) warn(format string, args ...any) {
	fmt.Fprintln(c.err, printable(fmt.Sprintf(format, args...)))
}

// printable returns a text without what a terminal would act upon: rows and messages can contain
// anything. Such characters are replaced by their escapes in JSON, so that JSON keeps its meaning.
// Line feeds and tabs stay.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text { // a byte that is not UTF-8 is the rune U+FFFD
		switch {
		case unicode.IsPrint(r) && r != utf8.RuneError, r == '\n', r == '\t':
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// figure is a number of a summary.
type figure struct {
	n    int
	name string
}

// String returns the number with its noun, in the plural only if it is not 1.
func (f figure) String() string {
	noun, rest, _ := strings.Cut(f.name, " ")
	if f.n == 1 {
		noun = strings.TrimSuffix(noun, "s")
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", f.n, noun, rest))
}

// summary prints the last line of a command that has found something, or not.
func (c *cli) summary(found bool, note string, figures ...figure) error {
	all := map[string]any{}
	var texts []string
	for _, f := range figures {
		all[f.name] = f.n
		texts = append(texts, f.String())
	}
	text := strings.Join(texts, ", ")
	if c.dryRun {
		note = "dry run: nothing was changed"
	}
	if note != "" {
		all["note"] = note
		text += " (" + note + ")"
	}
	c.found = found
	return c.print(all, text)
}

// progress prints how far a command is: on a terminal in one line, otherwise in a line every half minute.
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
	if !p.terminal && time.Since(p.printed) >= 30*time.Second {
		p.printed = time.Now()
		p.warn("%s", p.text(done, total, time.Since(p.began)))
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
