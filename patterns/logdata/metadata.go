package logdata

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The names of a blob's metadata. HTTP does not preserve their case, so they are
// compared without it.
const (
	metaStart   = "StartTime"
	metaEnd     = "EndTime"
	metaType    = "LogType"
	metaVersion = "LogVersion"
	metaSpans   = "Spans"
)

const metaTime = "2006-01-02T15:04:05Z"

// Limits that keep the metadata well below the service's 8 KiB.
const (
	maxSpans     = 64
	maxTypes     = 32
	maxTypeBytes = 1024
)

// span is a part of a blob that consists of whole lines, with the seconds within the
// hour of its earliest and latest record.
type span struct {
	length int64
	lo, hi int
}

// join returns the span of a and the span b that follows it.
func (a span) join(b span) span {
	return span{a.length + b.length, min(a.lo, b.lo), max(a.hi, b.hi)}
}

// summary describes the first bytes of a blob, as the metadata stores it: covered() of
// them. It contains nothing about bytes that were appended later.
type summary struct {
	hour  time.Time
	spans []span
	types map[string]bool // nil if there are too many to store
}

func newSummary(h time.Time) *summary { return &summary{hour: h, types: map[string]bool{}} }

// add adds a span. If there are too many, it joins the two neighbours with the smallest
// total length, so that the metadata stays small and all spans similar in length.
func (s *summary) add(sp span, types map[string]bool) {
	s.spans = append(s.spans, sp)
	if len(s.spans) > maxSpans {
		least := 0
		for i := range len(s.spans) - 1 {
			if s.spans[i].length+s.spans[i+1].length < s.spans[least].length+s.spans[least+1].length {
				least = i
			}
		}
		s.spans[least] = s.spans[least].join(s.spans[least+1])
		s.spans = slices.Delete(s.spans, least+1, least+2)
	}
	if s.types == nil {
		return
	}
	maps.Copy(s.types, types)
	if len(s.types) > maxTypes || len(s.logType()) > maxTypeBytes {
		s.types = nil
	}
}

func (s *summary) logType() string {
	names := slices.Sorted(maps.Keys(s.types))
	for i := range names {
		names[i] = url.PathEscape(names[i])
	}
	return strings.Join(names, ",")
}

// covered returns how many bytes of the blob the summary describes.
func (s *summary) covered() int64 {
	var n int64
	for _, sp := range s.spans {
		n += sp.length
	}
	return n
}

func (s *summary) metadata(version string) map[string]*string {
	total := s.spans[0]
	var spans []string
	for i, sp := range s.spans {
		if i > 0 {
			total = total.join(sp)
		}
		spans = append(spans, fmt.Sprintf("%d:%d:%d", sp.length, sp.lo, sp.hi))
	}
	second := func(n int) string { return s.hour.Add(time.Duration(n) * time.Second).Format(metaTime) }
	values := map[string]string{
		metaStart: second(total.lo), metaEnd: second(total.hi),
		metaVersion: version, metaSpans: strings.Join(spans, ","),
	}
	if logType := s.logType(); logType != "" && s.types != nil {
		values[metaType] = logType
	}
	meta := make(map[string]*string, len(values))
	for name, value := range values {
		meta[name] = &value
	}
	return meta
}

// metaValue returns the value of name in any case, or "".
func metaValue(meta map[string]*string, name string) string {
	for n, v := range meta {
		if v != nil && strings.EqualFold(n, name) {
			return *v
		}
	}
	return ""
}

// parseSummary parses the metadata of a blob of the hour. ok is false if this package
// did not write them; then the whole blob has to be read.
func parseSummary(h time.Time, meta map[string]*string) (s *summary, ok bool) {
	s = newSummary(h)
	text := metaValue(meta, metaSpans)
	if text == "" {
		return nil, false
	}
	for part := range strings.SplitSeq(text, ",") {
		numbers := strings.Split(part, ":")
		if len(numbers) != 3 || len(s.spans) == maxSpans {
			return nil, false
		}
		length, err1 := strconv.ParseInt(numbers[0], 10, 48)
		lo, err2 := strconv.Atoi(numbers[1])
		hi, err3 := strconv.Atoi(numbers[2])
		if err1 != nil || err2 != nil || err3 != nil || length <= 0 || lo < 0 || lo > hi || hi >= 3600 {
			return nil, false
		}
		s.spans = append(s.spans, span{length, lo, hi})
	}
	s.types = nil
	if text := metaValue(meta, metaType); text != "" {
		s.types = map[string]bool{}
		for name := range strings.SplitSeq(text, ",") {
			plain, err := url.PathUnescape(name)
			if err != nil {
				return nil, false
			}
			s.types[plain] = true
		}
	}
	return s, true
}

// byteRange is the part of a blob from offset from up to offset to, exclusive.
type byteRange struct{ from, to int64 }

// ranges returns the parts of a blob of the given size that may contain records of
// [from, to) and of the types, nil meaning all types: the spans whose seconds overlap
// the time range, and the part that the summary does not cover.
func (s *summary) ranges(size int64, from, to time.Time, types []string) []byteRange {
	covered := s.covered()
	if covered > size { // the metadata of another blob
		return []byteRange{{0, size}}
	}
	if covered == size && s.types != nil && len(types) > 0 &&
		!slices.ContainsFunc(types, func(t string) bool { return s.types[t] }) {
		return nil
	}
	var picked []byteRange
	var at int64
	pick := func(end int64) {
		if n := len(picked); n > 0 && picked[n-1].to == at {
			picked[n-1].to = end
		} else {
			picked = append(picked, byteRange{at, end})
		}
	}
	for _, sp := range s.spans {
		end := at + sp.length
		lo := s.hour.Add(time.Duration(sp.lo) * time.Second)
		hi := s.hour.Add(time.Duration(sp.hi+1) * time.Second)
		if lo.Before(to) && hi.After(from) {
			pick(end)
		}
		at = end
	}
	if covered < size {
		pick(size)
	}
	return picked
}
