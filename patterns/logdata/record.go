package logdata

import (
	"bytes"
	"encoding/json"
	"time"
)

// Record is one entry of a log. What of its text is not UTF-8 is stored as U+FFFD.
type Record struct {
	// Time is when it happened, any time of the years 1 to 9999. It decides in which
	// hour's blob the record is kept, and is stored in UTC to the nanosecond. Zero
	// means the writer's clock at the time of the Write; Arrived then tells so.
	Time time.Time

	// Arrived says, of a record that was read, that Time is that of its writing, for
	// it came without one. Writing ignores it.
	Arrived bool

	// Type is the kind of the record: "ERROR", "read". The types in a blob are
	// listed in its LogType metadata.
	Type string

	// Message is free text.
	Message string

	// Attrs is a JSON object with all else, or nil. It is stored without white space
	// between its members, otherwise as it is.
	Attrs json.RawMessage
}

const (
	reasonYear   = "is not of the years 1 to 9999"
	reasonObject = "is not a JSON object"
)

// check fills in the time, makes all text UTF-8, and refuses what cannot be stored.
func (r *Record) check(now time.Time) error {
	r.Arrived = r.Time.IsZero()
	if r.Arrived {
		r.Time = now
	}
	// Without the monotonic reading, which says nothing to a reader.
	r.Time = r.Time.Round(0).UTC()
	if y := r.Time.Year(); y < 1 || y > 9999 {
		return &RecordError{Field: "Time", Reason: reasonYear}
	}
	// Here and not only in the line: the type is told by the metadata as well.
	r.Type, r.Message = utf8Of(r.Type), utf8Of(r.Message)
	if len(r.Attrs) > 0 {
		var text bytes.Buffer
		if err := json.Compact(&text, bytes.ToValidUTF8(r.Attrs, []byte("\ufffd"))); err != nil || text.Bytes()[0] != '{' {
			return &RecordError{Field: "Attrs", Reason: reasonObject}
		}
		r.Attrs = text.Bytes()
	}
	return nil
}
