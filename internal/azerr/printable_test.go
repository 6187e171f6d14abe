package azerr_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
)

func TestPrintableEscapesWhatATerminalActsUpon(t *testing.T) {
	for text, want := range map[string]string{
		"plain":              "plain",
		"Größe 4 µm 日本 🙂":    "Größe 4 µm 日本 🙂",
		"\x1b[2Jgone":        `\x1b[2Jgone`,
		"two\r\nlines\t":     `two\r\nlines\t`,
		"C1 \u009b1m":        `C1 \u009b1m`,
		"bidi \u202egnp":     `bidi \u202egnp`,
		"isolate \u2066x":    `isolate \u2066x`,
		"hidden\u200b\u00ad": `hidden\u200b\u00ad`,
		"line \u2028 end":    `line \u2028 end`,
		"tag \U000e0041":     `tag \U000e0041`,
		"bytes \xff\x9b":     `bytes \xff\x9b`,
		"DEL \x7f":           `DEL \x7f`,
	} {
		assert.Equal(t, azerr.Printable(text), want, "Printable", text)
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := azerr.Printable(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Printable(%q) = %q", text, got)
		}
		assert.Equal(t, azerr.IsPrintable(text), got == text, text)
		assert.Equal(t, azerr.Printable(got), got, text)
	})
}
