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

// The metadata of a blob. Their case is lost over HTTP, so they are compared without.
const (
	metaStart   = "StartTime"
	metaEnd     = "EndTime"
	metaType    = "LogType"
	metaVersion = "LogVersion"
	metaSpans   = "Spans"
)

const metaTime = "2006-01-02T15:04:05Z"

// Bounds of what a blob's metadata takes, of the 8 KiB that the service allows.
const (
	maxSpans     = 64
	maxTypes     = 32
	maxTypeBytes = 1024
)

// span is a stretch of a blob, whole lines, with the seconds within the hour of its
// earliest and latest record.
type span struct {
	length int64
	lo, hi int
}

func join(a, b span) span {
	return span{a.length + b.length, min(a.lo, b.lo), max(a.hi, b.hi)}
}

// summary is what the metadata says of a blob's beginning, up to covered. Of what was
// appended since it says nothing.
type summary struct {
	hour  time.Time
	spans []span
	types map[string]bool // nil: too many to say
}

func newSummary(h time.Time) *summary { return &summary{hour: h, types: map[string]bool{}} }

// add notes a stretch. When there are too many it joins the two neighbours that are
// the smallest together, so that the metadata stays small and all stretches alike.
func (s *summary) add(sp span, types map[string]bool) {
	s.spans = append(s.spans, sp)
	if len(s.spans) > maxSpans {
		least := 0
		for i := range len(s.spans) - 1 {
			if s.spans[i].length+s.spans[i+1].length < s.spans[least].length+s.spans[least+1].length {
				least = i
			}
		}
		s.spans[least] = join(s.spans[least], s.spans[least+1])
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

func (s *summary) covered() int64 {
	var n int64
	for _, sp := range s.spans {
		n += sp.length
	}
	return n
}

func (s *summary) metadata(version string) map[string]*string {
	all := s.spans[0]
	var spans []string
	for i, sp := range s.spans {
		if i > 0 {
			all = join(all, sp)
		}
		spans = append(spans, fmt.Sprintf("%d:%d:%d", sp.length, sp.lo, sp.hi))
	}
	second := func(n int) string { return s.hour.Add(time.Duration(n) * time.Second).Format(metaTime) }
	values := map[string]string{
		metaStart: second(all.lo), metaEnd: second(all.hi),
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

// metaValue looks a name up in any case.
func metaValue(meta map[string]*string, name string) string {
	for n, v := range meta {
		if v != nil && strings.EqualFold(n, name) {
			return *v
		}
	}
	return ""
}

// parseSummary reads the metadata of a blob of the hour. ok is false for any that is
// not of this package's making: it then says nothing.
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

// stretch is part of a blob.
type stretch struct{ from, to int64 }

// pick gives the stretches of a blob of the given size that may have records of
// [from, to) and of the types, nil for all: those whose span says so, and what is
// not covered.
func (s *summary) pick(size int64, from, to time.Time, types []string) []stretch {
	covered := s.covered()
	if covered > size { // another blob's
		return []stretch{{0, size}}
	}
	if covered == size && s.types != nil && len(types) > 0 &&
		!slices.ContainsFunc(types, func(t string) bool { return s.types[t] }) {
		return nil
	}
	var picked []stretch
	var at int64
	take := func(end int64) {
		if n := len(picked); n > 0 && picked[n-1].to == at {
			picked[n-1].to = end
		} else {
			picked = append(picked, stretch{at, end})
		}
	}
	for _, sp := range s.spans {
		end := at + sp.length
		lo := s.hour.Add(time.Duration(sp.lo) * time.Second)
		hi := s.hour.Add(time.Duration(sp.hi+1) * time.Second)
		if lo.Before(to) && hi.After(from) {
			take(end)
		}
		at = end
	}
	if covered < size {
		take(size)
	}
	return picked
}
