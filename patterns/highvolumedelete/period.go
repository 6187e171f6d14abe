package highvolumedelete

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// Period is the length of time that one table covers. Periods start and end in UTC.
type Period int

const (
	// Hour means table names such as Logins2014073118.
	Hour Period = iota + 1
	// Day means table names such as Logins20140731.
	Day
	// Week means the week of ISO 8601, which starts on Monday, and table names such as
	// Logins2014W31. The first days of January may belong to the last week of the previous
	// year, and the last days of December to the first week of the next year.
	Week
	// Month means table names such as Logins201407.
	Month
)

// String returns the name of the constant.
func (p Period) String() string {
	switch p {
	case Hour:
		return "Hour"
	case Day:
		return "Day"
	case Week:
		return "Week"
	case Month:
		return "Month"
	}
	return "Period(" + strconv.Itoa(int(p)) + ")"
}

func (p Period) valid() bool { return p >= Hour && p <= Month }

// Start returns the start of the period that contains t.
func (p Period) Start(t time.Time) time.Time {
	t = t.UTC()
	year, month, day := t.Date()
	switch p {
	case Hour:
		return time.Date(year, month, day, t.Hour(), 0, 0, 0, time.UTC)
	case Week:
		sinceMonday := (int(t.Weekday()) + 6) % 7
		return time.Date(year, month, day-sinceMonday, 0, 0, 0, 0, time.UTC)
	case Month:
		return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// End returns the start of the period after the one that contains t.
func (p Period) End(t time.Time) time.Time {
	start := p.Start(t)
	switch p {
	case Hour:
		return start.Add(time.Hour)
	case Week:
		return start.AddDate(0, 0, 7)
	case Month:
		return start.AddDate(0, 1, 0)
	}
	return start.AddDate(0, 0, 1)
}

// The years that have tables. Year 1 is excluded because it contains the zero time.Time,
// which means that a bound is not set.
const (
	firstYear = 2
	lastYear  = 9999
)

// checkedStart returns the start of the period of t, or an error if t is outside the years
// that have tables. A week may start in the previous year.
func (p Period) checkedStart(t time.Time) (time.Time, error) {
	if y := t.UTC().Year(); y < firstYear || y > lastYear {
		return time.Time{}, fmt.Errorf("%w: there are no tables for times outside the years %d to %d", patterns.ErrBadKey, firstYear, lastYear)
	}
	return p.Start(t), nil
}

// stamp returns the part of a table name for the period that starts at start. The stamps of
// a Period have the same width and sort by time.
func (p Period) stamp(start time.Time) string {
	switch p {
	case Hour:
		return start.Format("2006010215")
	case Week:
		year, week := start.ISOWeek()
		return fmt.Sprintf("%04dW%02d", year, week)
	case Month:
		return start.Format("200601")
	}
	return start.Format("20060102")
}

// parse parses what stamp returned. ok is false for any other text.
func (p Period) parse(stamp string) (start time.Time, ok bool) {
	var err error
	switch p {
	case Hour:
		start, err = time.Parse("2006010215", stamp)
	case Week:
		if len(stamp) != len("2006W01") {
			return time.Time{}, false
		}
		var year, week int
		if year, err = strconv.Atoi(stamp[:4]); err == nil {
			week, err = strconv.Atoi(stamp[5:])
		}
		// The fourth of January is in the first week of its year.
		start = p.Start(time.Date(year, time.January, 4+7*(week-1), 0, 0, 0, 0, time.UTC))
	case Month:
		start, err = time.Parse("200601", stamp)
	default:
		start, err = time.Parse("20060102", stamp)
	}
	// The comparison refuses texts that the parsing above accepts too leniently.
	return start, err == nil && p.End(start).Add(-1).Year() >= firstYear && p.stamp(start) == stamp
}

// naming is the form of the table names of one set.
type naming struct {
	prefix string
	period Period
}

// Limits for the length of a table name.
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#table-names
const (
	minName = 3
	maxName = 63
)

// check returns an error if names would not be valid, or could be names of another set: a
// prefix that ends in a digit could not be distinguished from the stamp.
func (n naming) check() error {
	if !n.period.valid() {
		return fmt.Errorf("%w: %v is not Hour, Day, Week or Month", ErrBadName, n.period)
	}
	for i, r := range n.prefix {
		if !letter(r) && (i == 0 || !digit(r)) {
			return fmt.Errorf("%w: invalid character at byte %d; it must consist of letters and digits and start with a letter", ErrBadName, i)
		}
	}
	switch last := len(n.prefix) - 1; {
	case last < 0:
		return fmt.Errorf("%w: it is empty", ErrBadName)
	case !letter(rune(n.prefix[last])):
		return fmt.Errorf("%w: it must end in a letter, because digits follow", ErrBadName)
	}
	if l := len(n.name(time.Unix(0, 0))); l < minName || l > maxName {
		return fmt.Errorf("%w: names would have %d characters, the service accepts %d to %d", ErrBadName, l, minName, maxName)
	}
	return nil
}

func letter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func digit(r rune) bool { return '0' <= r && r <= '9' }

// name returns the name of the table of the period that contains t.
func (n naming) name(t time.Time) string { return n.prefix + n.period.stamp(n.period.Start(t)) }

// parse returns the start of the period of a table. ok is false if the table is not in the
// set. Table names are case-insensitive.
func (n naming) parse(name string) (start time.Time, ok bool) {
	if len(name) <= len(n.prefix) || !strings.EqualFold(name[:len(n.prefix)], n.prefix) {
		return time.Time{}, false
	}
	return n.period.parse(strings.ToUpper(name[len(n.prefix):]))
}

// filter returns a filter for the names of the periods that start in [from, to), where a
// zero time means no bound. Names of other tables may match too.
func (n naming) filter(from, to time.Time) string {
	low, high := n.prefix+"0", n.prefix+":" // ":" is the character after "9"
	if !from.IsZero() {
		low = n.prefix + n.period.stamp(from)
	}
	if !to.IsZero() && to.Year() <= lastYear {
		high = n.prefix + n.period.stamp(to)
	}
	return "TableName ge '" + low + "' and TableName lt '" + high + "'"
}
