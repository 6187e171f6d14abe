package edm

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestDateTimeTextIsUTCWithAtMostSevenDigits(t *testing.T) {
	paris := time.FixedZone("", 2*3600)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Date(2013, 8, 22, 3, 12, 6, 260859599, paris), "2013-08-22T01:12:06.2608595Z"},
		{time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC), "1601-01-01T00:00:00Z"},
		{time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), "9999-12-31T23:59:59.9999999Z"},
		{time.Date(1601, 1, 1, 1, 0, 0, 0, paris), ""},
		{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), ""},
		{time.Date(10000, 1, 1, 1, 0, 0, 0, paris), "9999-12-31T23:00:00Z"},
		{time.Date(2013, 8, 22, 1, 12, 6, 120000000, time.UTC), "2013-08-22T01:12:06.12Z"},
		{time.Time{}, ""},
	} {
		got, ok := appendDateTime(nil, c.at)
		if ok != (c.want != "") || ok && string(got) != c.want {
			t.Errorf("%v is %q %v, want %q", c.at, got, ok, c.want)
		}
	}
}

// TestDateTimeIsReadAsTimeParseReadsIt compares parseDateTime with the standard library.
func TestDateTimeIsReadAsTimeParseReadsIt(t *testing.T) {
	seeds := []string{"2013-08-22T01:12:06Z", "2013-08-22T01:12:06.2608595Z", "2013-08-22T01:12:06.260859512345Z", "2013-08-22T01:12:06+02:00",
		"2013-08-22T01:12:06.5-23:59", "2000-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2013-02-29T00:00:00Z", "0000-01-01T00:00:00Z", "0000-02-29T00:00:00Z",
		"9999-12-31T23:59:59.9999999Z", "2013-13-01T00:00:00Z", "2013-00-01T00:00:00Z", "2013-01-00T00:00:00Z", "2013-01-32T00:00:00Z",
		"2013-01-01T24:00:00Z", "2013-01-01T00:60:00Z", "2013-01-01T00:00:60Z", "2013-01-01T00:00:00", "2013-01-01T00:00:00.Z", "2013-01-01T00:00:00z",
		"2013-01-01t00:00:00Z", "2013-01-01 00:00:00Z", "+013-01-01T00:00:00Z", "2013-1-01T00:00:00Z", "", "Z", "2013-01-01T00:00:00+24:00", "2013-01-01T00:00:00+02:60", "2013-01-01T00:00:00+0200"}
	for _, s := range seeds {
		compareDateTime(t, s)
	}
	for _, s := range seeds[:4] {
		for at := range len(s) {
			for c := range 256 {
				if c != ',' { // in place of the point, only time.Parse takes it
					compareDateTime(t, s[:at]+string([]byte{byte(c)})+s[at+1:])
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(seeds).Draw(t, "text")
		if text == "" {
			return
		}
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		c := rapid.SampledFrom([]byte("0123456789-:TZ.+ ")).Draw(t, "c")
		compareDateTime(t, text[:at]+string(c)+text[at+1:])
	})
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-62167219200, 253402300799).Draw(t, "s"), rapid.Int64Range(0, 999999999).Draw(t, "ns"))
		compareDateTime(t, at.UTC().Format(time.RFC3339Nano))
	})
}

var lateOffset = regexp.MustCompile(`[+-](24:..|..:60)$`)

func compareDateTime(t rapid.TB, text string) {
	t.Helper()
	want, err := time.Parse(time.RFC3339Nano, text)
	got, ok := parseDateTime([]byte(text))
	if !ok && lateOffset.MatchString(text) {
		return // time.Parse takes these, RFC 3339 does not
	}
	assert.Equal(assert.Now(t), ok, err == nil, text, "ok", "time.Parse", err)
	if ok && (!got.Equal(want) || got.Location() != time.UTC) {
		t.Fatalf("%q is %v, want %v", text, got, want)
	}
}

func TestGUIDTextIsThatOfUUID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "guid"))
		text := string(appendGUID(nil, (*[16]byte)(&g)))
		assert.Equal(assert.Now(t), text, g.String(), "want", g)
		var back [16]byte
		if !parseGUID(&back, []byte(strings.ToUpper(text))) || back != g {
			t.Fatalf("%q is %x", text, back)
		}
	})
	const good = "c9da6455-213d-42c9-9a79-3e9149a57833"
	for at := range len(good) {
		for c := range 256 {
			text := good[:at] + string([]byte{byte(c)}) + good[at+1:]
			assert.Equal(t, parseGUID(new([16]byte), []byte(text)), uuid.Validate(text) == nil, text, "is a GUID")
		}
	}
	for _, bad := range []string{"", "c9da6455-213d-42c9-9a79-3e9149a5783", "c9da6455-213d-42c9-9a79-3e9149a5783g", "c9da6455+213d-42c9-9a79-3e9149a57833",
		"{9da6455-213d-42c9-9a79-3e9149a5783}", "c9da6455213d42c99a793e9149a57833c9da"} {
		if parseGUID(new([16]byte), []byte(bad)) {
			t.Errorf("%q is a GUID", bad)
		}
	}
}
