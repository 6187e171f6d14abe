package logdata

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	hour = time.Hour
	day  = 24 * hour
	// maxName leaves room for the hour and the number in the 1,024 characters of a
	// blob's name.
	maxName = 400
)

// hourOf is the beginning of the hour in which t is.
func hourOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), 0, 0, 0, time.UTC)
}

func dayOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// dayPrefix and hourPrefix are what the names of a day's and an hour's blobs begin
// with.
func dayPrefix(service string, t time.Time) string {
	return service + "/" + t.Format("2006/01/02/")
}

func hourPrefix(service string, t time.Time) string {
	return service + "/" + t.Format("2006/01/02/15") + "00/"
}

func blobName(service string, h time.Time, writer string, number int) string {
	return fmt.Sprintf("%s%s-%06d.log", hourPrefix(service, h), writer, number)
}

// numberOf is the number in a name that blobName has made for the writer.
func numberOf(name, prefix string) (int, bool) {
	digits, ok := strings.CutSuffix(strings.TrimPrefix(name, prefix), ".log")
	if !ok || len(digits) < 6 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil
}

// hourOfName is the hour that stands in the name of a blob of service: the inverse of
// hourPrefix for whatever file ends in .log. The minutes are always 00.
func hourOfName(service, name string) (time.Time, bool) {
	rest, ok := strings.CutPrefix(name, service+"/")
	const form = "2006/01/02/1504/"
	if !ok || len(rest) <= len(form) || strings.Contains(rest[len(form):], "/") || !strings.HasSuffix(rest, ".log") {
		return time.Time{}, false
	}
	t, err := time.Parse(form, rest[:len(form)])
	return t, err == nil && t.Minute() == 0 && t.Year() > 0
}

// checkName refuses what cannot be a part of a blob's name. A service may have
// several segments.
func checkName(what, name string, segments bool) error {
	bad := func(reason string) error { return fmt.Errorf("%w: %s %s", ErrBadOption, what, reason) }
	if name == "" || len(name) > maxName {
		return bad(fmt.Sprintf("has to have 1 to %d bytes", maxName))
	}
	if !utf8.ValidString(name) {
		return bad("is not UTF-8")
	}
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\\' }) {
		return bad("has a backslash or a control character")
	}
	if !segments && strings.Contains(name, "/") {
		return bad("has a slash")
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasSuffix(part, ".") {
			return bad("has an empty segment, or one that ends in a dot")
		}
	}
	return nil
}
