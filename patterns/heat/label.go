package heat

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

var seed = maphash.MakeSeed()

// Label is the default of [Options.Label]: the text of a key before its first digit, and a
// hash of the rest. "Sales_000123" becomes "Sales_#5c0f1e". The hash is different in each
// process, so that keys cannot be guessed and compared. If the rest begins with a time, that is
// shown to the minute: ticks, inverted ones too, and the forms of RFC 3339, with or without
// separators. A key without a digit is shown as it is; set Options.Label if such keys are private.
func Label(key string) string {
	i := strings.IndexAny(key, "0123456789")
	if i < 0 {
		return key
	}
	shown, rest := timeOf(key[i:])
	if rest != "" {
		rest = fmt.Sprintf("#%06x", maphash.String(seed, rest)&0xffffff)
	}
	return key[:i] + shown + rest
}

// timeForms are those of times in keys.
var timeForms = []string{"2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15", "2006-01-02", "20060102T1504", "20060102150405", "200601021504"}

// timeOf returns the time with which text begins, and what follows it.
func timeOf(text string) (shown, rest string) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	const form = "2006-01-02 15:04"
	for _, parse := range []func(string) (time.Time, error){keys.ParseTicks, keys.ParseInvertedTicks} {
		if t, err := parse(strings.Repeat("0", max(19-digits, 0)) + text[:digits]); err == nil && digits >= 18 && t.Year() >= 2000 && t.Year() < 2100 {
			return t.UTC().Format(form), text[digits:]
		}
	}
	for _, f := range timeForms {
		if n := len(f); n <= len(text) && (strings.Contains(f, "-") || strings.Contains(f, "T") || n == digits) {
			if t, err := time.Parse(f, text[:n]); err == nil && t.Year() >= 2000 && t.Year() < 2100 {
				return t.Format(cmp.Or(map[int]string{10: f}[n], form)), strings.TrimLeft(text[n:], ":.0123456789Z")
			}
		}
	}
	return "", text
}

// placeParts returns the resource, the partition key and the row key of a place.
func placeParts(p string) (resource, partition, row string) {
	resource, rest, _ := strings.Cut(p, "\x00")
	partition, row, _ = strings.Cut(rest, "\x00")
	return resource, partition, row
}

// resourceName returns the name of a resource for people.
func resourceName(resource string) string {
	switch {
	case resource == "":
		return "(before)"
	case len(resource) == 1:
		return "(account)"
	case resource[0] == 'q':
		return "queue " + resource[1:]
	case resource[0] == 'b':
		return "container " + resource[1:]
	}
	return resource[1:]
}
