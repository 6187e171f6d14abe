package logdata

import (
	"encoding/json"
	"time"
)

// Record is one entry of a log. Invalid UTF-8 in its text is stored as U+FFFD.
type Record struct {
	// Time is when the event happened, in the years 1 to 9999. It decides which hour's
	// blob the record is stored in. It is stored in UTC with nanoseconds. Zero means the
	// writer's clock at the time of the Write.
	Time time.Time

	// Arrived reports, in a record that was read, that it was written without a time, so
	// that Time is the time of the write. Write ignores it.
	Arrived bool

	// Type is the kind of the record, such as "ERROR" or "read". The types of a blob's
	// records are listed in its LogType metadata.
	Type string

	// Message is free text.
	Message string

	// Attrs is a JSON object with further attributes, or nil. It is stored without white
	// space between its tokens, and otherwise unchanged.
	Attrs json.RawMessage
}

const (
	reasonYear   = "is outside the years 1 to 9999"
	reasonObject = "is not a JSON object"
)

// normalize sets a missing time, makes the type and the message valid UTF-8, and returns an
// error if the time cannot be stored.
func (r *Record) normalize() error {
	r.Arrived = r.Time.IsZero()
	if r.Arrived {
		r.Time = time.Now()
	}
	r.Time = r.Time.Round(0).UTC() // without the monotonic reading, which is not stored
	if y := r.Time.Year(); y < 1 || y > 9999 {
		return &RecordError{Field: "Time", Reason: reasonYear}
	}
	// Here and not in the Format, because the metadata contains the type as well.
	r.Type, r.Message = validUTF8(r.Type), validUTF8(r.Message)
	return nil
}

// normalizeAttrs makes the attributes compact and valid UTF-8. It does not change their
// bytes in place.
func (r *Record) normalizeAttrs() error {
	if len(r.Attrs) > 0 {
		text, ok := compactObject(r.Attrs)
		if !ok {
			return &RecordError{Field: "Attrs", Reason: reasonObject}
		}
		r.Attrs = text
	}
	return nil
}
