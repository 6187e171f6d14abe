package highvolumedelete

import (
	"fmt"
	"strconv"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// Period is how much time one table covers. Periods begin and end in UTC.
type Period int

const (
	// Hour gives tables such as Logins2014073118.
	Hour Period = iota + 1
	// Day gives tables such as Logins20140731.
	Day
	// Week is the week of ISO 8601, from Monday on, and gives tables such as
	// Logins2014W31. The first days of January may be in the last week of the year
	// before, and the last of December in the first of the next.
	Week
	// Month gives tables such as Logins201407.
	Month
)

// String gives the name of the constant.
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

// Start is the beginning of the period that holds t.
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

// End is the beginning of the period after the one that holds t.
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

// stamp is what stands in the table's name for the period that begins at start. All
// stamps of a Period have one width, and their order is that of time.
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

// parse is the inverse of stamp; ok is false for any other text.
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
	// The comparison refuses what the readings above are too lenient about.
	return start, err == nil && p.End(start).Add(-1).Year() >= firstYear && p.stamp(start) == stamp
}

// The years that have tables. The first one leaves the zero time.Time out, which is
// no time but a bound that was not set.
const (
	firstYear = 2
	lastYear  = 9999
)

// in is the beginning of the period of t, checked for what a stamp can tell. A week
// may begin in the year before.
func (p Period) in(t time.Time) (time.Time, error) {
	if y := t.UTC().Year(); y < firstYear || y > lastYear {
		return time.Time{}, fmt.Errorf("%w: a time outside the years %d to %d has no table", patterns.ErrBadKey, firstYear, lastYear)
	}
	return p.Start(t), nil
}
