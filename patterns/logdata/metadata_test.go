package logdata

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"pgregory.net/rapid"
)

var testHour = time.Date(2014, 7, 31, 12, 0, 0, 0, time.UTC)

func covers(picked []byteRange, from, to int64) bool {
	for _, s := range picked {
		if s.from <= from && to <= s.to {
			return true
		}
	}
	return false
}

// The names are lowered as HTTP headers may do.
func TestMetadataNeverHidesAMatchingRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		second := rapid.IntRange(0, 3599)
		s := newSummary(testHour)
		type appended struct {
			span
			at   int64
			kind string
		}
		var all []appended
		var size int64
		for range rapid.IntRange(1, 150).Draw(t, "appends") {
			a, b := second.Draw(t, "second"), second.Draw(t, "second")
			sp := span{rapid.Int64Range(1, 1<<22).Draw(t, "length"), min(a, b), max(a, b)}
			kind := rapid.SampledFrom([]string{"", "INFO", "ERROR", "a,b", "ö", "50%"}).Draw(t, "kind")
			s.add(sp, map[string]bool{kind: true})
			all = append(all, appended{sp, size, kind})
			size += sp.length
		}
		meta := map[string]*string{}
		bytes := 0
		for name, value := range s.metadata("json-1") {
			meta[strings.ToLower(name)] = value
			bytes += len(name) + len(*value)
		}
		if bytes > 4<<10 {
			t.Fatalf("%d bytes of metadata", bytes)
		}
		parsed, ok := parseSummary(testHour, meta)
		if !ok {
			t.Fatalf("cannot be parsed: %v", meta)
		}
		a, b := second.Draw(t, "from"), second.Draw(t, "to")
		from, to := testHour.Add(time.Duration(min(a, b))*time.Second+1), testHour.Add(time.Duration(max(a, b))*time.Second)
		more := rapid.Int64Range(0, 5).Draw(t, "more")
		picked := parsed.ranges(size+more, from, to, nil)
		for _, ap := range all {
			may := ap.lo < int(to.Add(time.Second-1).Sub(testHour)/time.Second) && ap.hi >= int(from.Sub(testHour)/time.Second)
			if may && !covers(picked, ap.at, ap.at+ap.length) {
				t.Fatalf("%v of %v is not in %v", ap, all, picked)
			}
			if kinds := parsed.ranges(size+more, from, to, []string{ap.kind}); may && !covers(kinds, ap.at, ap.at+ap.length) {
				t.Fatalf("%v is not in %v", ap, kinds)
			}
		}
		if more > 0 && !covers(picked, size, size+more) {
			t.Fatalf("the part that is not covered is not in %v", picked)
		}
	})
}

func TestTooManyTypesAreNotStoredInTheMetadata(t *testing.T) {
	s := newSummary(testHour)
	for i := range maxTypes + 1 {
		s.add(span{1, 0, 0}, map[string]bool{fmt.Sprint(i): true})
	}
	meta := s.metadata("json-1")
	assert.Equal(t, metaValue(meta, metaType), "", "LogType")
	parsed, _ := parseSummary(testHour, meta)
	if picked := parsed.ranges(parsed.covered(), testHour, testHour.Add(hour), []string{"7"}); len(picked) != 1 {
		t.Errorf("picked %v", picked)
	}
}

func FuzzAnyMetadataSelectsRangesWithinTheBlob(f *testing.F) {
	for _, spans := range []string{"10:0:59", "1:0:0,2:3:4", "", ",", "1:2", "9223372036854775807:0:0", "-1:0:0", "1:9:1", "1:0:3600", " 1:0:0"} {
		f.Add(spans, "ERROR,INFO", int64(100))
	}
	f.Add("1:0:0", "%zz", int64(1))
	f.Fuzz(func(t *testing.T, spans, types string, size int64) {
		s, ok := parseSummary(testHour, map[string]*string{metaSpans: &spans, metaType: &types})
		if !ok || size < 0 {
			return
		}
		end := int64(0)
		for i, p := range s.ranges(size, testHour, testHour.Add(hour), []string{"ERROR"}) {
			if p.from < end || i > 0 && p.from == end || p.to <= p.from && size > 0 || p.to > size {
				t.Errorf("picked %v of %d", p, size)
			}
			end = p.to
		}
		again, ok := parseSummary(testHour, s.metadata("json-1"))
		if !ok || len(again.spans) != len(s.spans) || len(s.types) > 0 && s.logType() != "" && !maps.Equal(again.types, s.types) {
			t.Errorf("%q became %v", spans, again)
		}
	})
}
