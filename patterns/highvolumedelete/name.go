package highvolumedelete

import (
	"fmt"
	"strings"
	"time"
)

// naming makes the names of tables.
type naming struct {
	prefix string
	period Period
}

// Lengths of a table's name.
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#table-names
const (
	minName = 3
	maxName = 63
)

// check refuses prefixes that give no legal names, or names that another set of
// tables might have: a prefix that ends in a digit runs into the stamp.
func (n naming) check() error {
	if !n.period.valid() {
		return fmt.Errorf("%w: %v is none of Hour, Day, Week and Month", ErrBadName, n.period)
	}
	for i, r := range n.prefix {
		if !letter(r) && (i == 0 || !digit(r)) {
			return fmt.Errorf("%w: the character at byte %d; letters and digits are allowed, a letter first", ErrBadName, i)
		}
	}
	switch last := len(n.prefix) - 1; {
	case last < 0:
		return fmt.Errorf("%w: it is empty", ErrBadName)
	case !letter(rune(n.prefix[last])):
		return fmt.Errorf("%w: it must end in a letter, for the date to begin behind it", ErrBadName)
	}
	if l := len(n.name(time.Unix(0, 0))); l < minName || l > maxName {
		return fmt.Errorf("%w: names of %d characters, the service takes %d to %d", ErrBadName, l, minName, maxName)
	}
	return nil
}

func letter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func digit(r rune) bool { return '0' <= r && r <= '9' }

// name is the table of the period that holds t.
func (n naming) name(t time.Time) string { return n.prefix + n.period.stamp(n.period.Start(t)) }

// parse gives the beginning of the period of a table; ok is false for a name that is
// none of ours. Names differ in more than the case of their letters.
func (n naming) parse(name string) (start time.Time, ok bool) {
	if len(name) <= len(n.prefix) || !strings.EqualFold(name[:len(n.prefix)], n.prefix) {
		return time.Time{}, false
	}
	return n.period.parse(strings.ToUpper(name[len(n.prefix):]))
}

// filter is a filter for the names of the periods from one beginning up to another,
// without it; a zero time is no bound. Other names may match too.
func (n naming) filter(from, to time.Time) string {
	low, high := n.prefix+"0", n.prefix+":" // ":" comes next after "9"
	if !from.IsZero() {
		low = n.prefix + n.period.stamp(from)
	}
	if !to.IsZero() && to.Year() <= lastYear {
		high = n.prefix + n.period.stamp(to)
	}
	return "TableName ge '" + low + "' and TableName lt '" + high + "'"
}
