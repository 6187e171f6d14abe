package azerr

import (
	"errors"
	"github.com/azpatterns/azpatterns/internal/assert"
	"net/http"
	"strings"
	"testing"
)

func TestOnlyAStarOrAVersionIsACondition(t *testing.T) {
	for etag, want := range map[string]bool{
		"*":                     true,
		`"0x8D4BCC2E4835CD0"`:   true,
		`W/"datetime'2026-01'"`: true,
		`""`:                    true,
		"":                      false,
		" ":                     false,
		"\t":                    false,
		" *":                    false,
		"**":                    false,
		"0x8D4BCC2E4835CD0":     false,
		`"`:                     false,
		`W/`:                    false,
		`W/"`:                   false,
		`w/"x"`:                 false,
		`W/"x`:                  false,
		`"x" `:                  false,
		`"a", "b"`:              false,
		"\"x\r\nX-Evil: 1\"":    false,
		"\"\x7f\"":              false,
		"\"\u00e9\"":            false,
	} {
		if err := CheckETag(etag); (err == nil) != want || err != nil && !errors.Is(err, ErrBadETag) {
			t.Errorf("%q as a condition: %v", etag, err)
		}
		if err := CheckVersion(etag); (err == nil) != (want && etag != "*") || err != nil && !errors.Is(err, ErrBadReply) {
			t.Errorf("%q in a reply: %v", etag, err)
		}
	}
}

func FuzzCheckETag(f *testing.F) {
	for _, etag := range []string{"*", "", `"x"`, `W/"x"`, `"x"y"`, "\"\r\n\""} {
		f.Add(etag)
	}
	f.Fuzz(func(t *testing.T, etag string) {
		if CheckETag(etag) != nil {
			return
		}
		h := http.Header{"If-Match": {etag}}
		var text strings.Builder
		assert.NoError(t, h.Write(&text))
		assert.Equal(t, text.String(), "If-Match: "+etag+"\r\n")
		if etag != "*" && strings.Count(etag, `"`) != 2 {
			t.Errorf("%q names more than one version", etag)
		}
	})
}
