package secondaryindex

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/keys"
)

// These forms are stored, so they must not change.
func TestRowKeysAreAsDocumented(t *testing.T) {
	unique, shared := layout{lead: "email_"}, layout{lead: "lastname_", shared: true}
	folded := layout{lead: "email_", fold: true}
	for _, c := range []struct {
		layout      layout
		value, want string
	}{
		{unique, "jonesj@contoso.com", "email_jonesj@contoso.com"},
		{unique, "", "email_"},
		{unique, "a_b/c", "email_a^\uFFEEb.\uFFEEc"},
		{unique, "Two  spaces ", "email_Two  spaces "},
		{folded, "JonesJ@Contoso.COM", "email_jonesj@contoso.com"},
		{shared, "Jones", "lastname_Jones  000152"},
		{shared, "De Vries", "lastname_De Vries  000152"},
		{shared, "a  b", "lastname_a ! b  000152"},
		{shared, "a ", "lastname_a !  000152"},
		{shared, "a !", "lastname_a !!  000152"},
		{shared, "", "lastname_  000152"},
		{layout{}, "000223", "000223"},
	} {
		row, err := c.layout.row(c.value, "000152")
		assert.Equal(t, row, c.want, c.value)
		assert.NoError(t, err, c.value)
	}
}

// texts generates texts of few characters, so that they often have a common prefix, and of
// characters that are escaped.
func texts() *rapid.Generator[string] {
	few := rapid.StringOfN(rapid.RuneFrom([]rune(" !\"#_./aAbB-~\x00\x1f\x7f\U0001F600\uFFED\uFFEE")), 0, 6, -1)
	return rapid.OneOf(few, few, rapid.StringN(0, 12, -1))
}

func layouts() *rapid.Generator[layout] {
	return rapid.Custom(func(t *rapid.T) layout {
		return layout{
			lead:   rapid.SampledFrom([]string{"", "email_"}).Draw(t, "lead"),
			fold:   rapid.Bool().Draw(t, "fold"),
			shared: rapid.Bool().Draw(t, "shared"),
		}
	})
}

func (l layout) folded(value string) string {
	if l.fold {
		return strings.ToLower(value)
	}
	return value
}

func TestAValueIsReadBackFromItsRowKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, value, suffix := layouts().Draw(t, "layout"), texts().Draw(t, "value"), keys.Escape(texts().Draw(t, "suffix"))
		row := assert.Must(l.row(value, suffix))(t)
		if got, ok := l.value(row); !ok || got != l.folded(value) {
			t.Fatalf("%q was read back as %q, %v", row, got, ok)
		}
	})
}

func TestRowKeysDifferAndSortByValueThenSuffix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := layouts().Draw(t, "layout")
		var rows, by [2]string
		var value, suffix [2]string
		for i := range 2 {
			value[i], suffix[i] = texts().Draw(t, "value"), texts().Draw(t, "suffix")
			rows[i], _ = l.row(value[i], keys.Escape(suffix[i]))
			by[i] = keys.Escape(l.folded(value[i]))
		}
		want := keys.Compare(by[0], by[1])
		if want == 0 && l.shared {
			want = keys.Compare(keys.Escape(suffix[0]), keys.Escape(suffix[1]))
		}
		if got := keys.Compare(rows[0], rows[1]); got != want {
			t.Fatalf("%q and %q compare %d, want %d", rows[0], rows[1], got, want)
		}
	})
}

func TestRangesContainExactlyTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := layouts().Draw(t, "layout")
		value, suffix := texts().Draw(t, "value"), keys.Escape(texts().Draw(t, "suffix"))
		row, _ := l.row(value, suffix)
		from, to := texts().Draw(t, "from"), texts().Draw(t, "to")
		if rapid.Bool().Draw(t, "near") { // bounds that are similar to the value
			cut := []rune(value)
			from = string(cut[:rapid.IntRange(0, len(cut)).Draw(t, "cut")])
			to = value + to
		}
		esc := func(s string) string { return keys.Escape(l.folded(s)) }

		exactly, _ := l.exactly(from)
		assert.Equal(t, exactly.Contains(row), l.folded(value) == l.folded(from), "exactly", from, "holds", row)
		prefix, _ := l.prefix(from)
		assert.Equal(t, prefix.Contains(row), strings.HasPrefix(l.folded(value), l.folded(from)), "prefix", from, prefix, "holds", row)
		between, _ := l.between(from, to)
		want := keys.Compare(esc(from), esc(value)) <= 0 && (to == "" || keys.Compare(esc(value), esc(to)) < 0)
		assert.Equal(t, between.Contains(row), want, "from", from, "to", to, between, "holds", row)
		everything, _ := l.between("", "")
		if !everything.Contains(row) || l.lead != "" && everything.Contains("emaila") {
			t.Errorf("the whole index, %v, without %q", everything, row)
		}
	})
}

func TestIndexesOfOneTableNeverShareRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-cA.\-]{1,3}`), 2, 2, rapid.ID).Draw(t, "names")
		all := make([]keys.Range, 2)
		rows := make([]string, 2)
		for i, name := range names {
			l := layout{lead: name + naming.Separator, shared: rapid.Bool().Draw(t, "shared")}
			all[i], _ = l.between("", "")
			rows[i], _ = l.row(texts().Draw(t, "value"), keys.Escape(texts().Draw(t, "suffix")))
		}
		if all[0].Contains(rows[1]) || all[1].Contains(rows[0]) {
			t.Fatalf("%q and %q", rows[0], rows[1])
		}
	})
}
