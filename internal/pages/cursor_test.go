package pages_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/pages"
)

const table = "https://acct.table.core.windows.net/Claims"

func TestOpenAcceptsOnlyUnchangedCursorsOfTheSameRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		position := rapid.SliceOf(rapid.Byte()).Draw(t, "position")
		bounds := rapid.SliceOf(rapid.String()).Draw(t, "bounds")
		text := pages.SealCursor(position, table, bounds...)
		c, ok := pages.OpenCursor(text, bounds...)
		if !ok || !bytes.Equal(c.Position, position) {
			t.Fatalf("opened %v, %x, want %x", ok, c.Position, position)
		}
		if !c.Of("HTTPS://acct.table.core.windows.net/claims") {
			t.Fatal("the table's name is case-sensitive")
		}
		if c.Of(table + "2") {
			t.Fatal("belongs to another table too")
		}
		if _, ok := pages.OpenCursor(text, append(bounds, "")...); ok {
			t.Fatal("opened with other bounds")
		}
		at := rapid.IntRange(0, len(text)-1).Draw(t, "damaged")
		bad := []byte(text)
		bad[at] ^= 1
		if _, ok := pages.OpenCursor(string(bad), bounds...); ok {
			t.Fatalf("opened with a damaged byte at %d", at)
		}
	})
}

func TestBoundsAreDelimited(t *testing.T) {
	if _, ok := pages.OpenCursor(pages.SealCursor(nil, table, "ab", "c"), "a", "bc"); ok {
		t.Error("opened with other bounds that have the same concatenation")
	}
}

func TestTheEmptyTextIsTheBeginningOfAnyTable(t *testing.T) {
	c, ok := pages.OpenCursor("", "a")
	if !ok || len(c.Position) != 0 || !c.Of(table) {
		t.Errorf("opened %v, %x, of the table: %v", ok, c.Position, c.Of(table))
	}
}

func TestOpenRejectsLineBreaks(t *testing.T) {
	text := pages.SealCursor([]byte("row"), table)
	for _, bad := range []string{text + "\n", "\r" + text, text[:8] + "\r\n" + text[8:]} {
		if _, ok := pages.OpenCursor(bad); ok {
			t.Errorf("opened %q", bad)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add("")
	f.Add("AQ")
	f.Add("%%%")
	f.Add(pages.SealCursor([]byte("row"), table, "a"))
	f.Add(pages.SealCursor([]byte("row"), table, "a") + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := pages.OpenCursor(text, "a")
		if ok && text != "" && c.Of(table) && pages.SealCursor(c.Position, table, "a") != text {
			t.Errorf("%q is accepted, but Seal does not return it", text)
		}
	})
}
