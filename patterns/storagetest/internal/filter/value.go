package filter

import (
	"cmp"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/keys"
)

// Type is a type of the entity data model.
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#property-types
type Type uint8

// The types.
const (
	String Type = iota
	Int32
	Int64
	Double
	Boolean
	DateTime
	GUID
	Binary
)

var typeNames = [...]string{"Edm.String", "Edm.Int32", "Edm.Int64", "Edm.Double", "Edm.Boolean", "Edm.DateTime", "Edm.Guid", "Edm.Binary"}

// String returns the name of the type, such as "Edm.Int64".
func (t Type) String() string { return typeNames[t] }

// TypeOf returns the type with a name. It returns false if there is none.
func TypeOf(name string) (Type, bool) {
	for i, n := range typeNames {
		if n == name {
			return Type(i), true
		}
	}
	return 0, false
}

// Value is a value of a property.
type Value struct {
	Type  Type
	Text  string  // of a String; the bytes of a Binary or a GUID
	Int   int64   // of an Int32 or Int64; 1 for true; the ticks of a DateTime
	Float float64 // of a Double
}

// compare returns the order of two values of the same type, which is not Double. Texts are
// compared by UTF-16 code units.
func (v Value) compare(w Value) int {
	switch v.Type {
	case String:
		return keys.Compare(v.Text, w.Text)
	case GUID, Binary:
		return strings.Compare(v.Text, w.Text)
	}
	return cmp.Compare(v.Int, w.Int)
}

// Ticks returns t in units of 100 ns since 1970, rounded down.
func Ticks(t time.Time) int64 { return t.Unix()*1e7 + int64(t.Nanosecond()/100) }

// ParseTime parses a DateTime, in UTC if it has no time zone:
//
//	2006-01-02
//	2006-01-02T15:04, with seconds, with up to 7 decimals of them, with Z or an offset
//
// https://learn.microsoft.com/rest/api/storageservices/formatting-datetime-values
func ParseTime(s string) (time.Time, bool) {
	date, clock, timed := strings.Cut(s, "T")
	day, err := time.Parse(time.DateOnly, date)
	if err != nil || !timed {
		return day, err == nil
	}
	zone := "Z"
	if i := strings.LastIndexAny(clock, "Z+-"); i >= 0 {
		clock, zone = clock[:i], clock[i:]
	}
	layout := "15:04"
	if len(clock) > len(layout) {
		layout = "15:04:05"
	}
	// Package time also accepts an hour of one digit, a comma, and any number of decimals.
	if decimals := len(clock) - len("15:04:05."); len(clock) < len("15:04") || decimals > 7 || decimals == 0 || strings.Contains(clock, ",") || clock[2] != ':' {
		return time.Time{}, false
	}
	t, err := time.Parse(time.DateOnly+"T"+layout+"Z07:00", date+"T"+clock+zone)
	return t.UTC(), err == nil
}

// ParseGUID returns the bytes of a GUID with dashes.
func ParseGUID(s string) (string, bool) {
	id, err := uuid.Parse(s)
	return string(id[:]), err == nil && len(s) == len(uuid.Nil.String())
}
