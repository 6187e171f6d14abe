package keys_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
)

func TestValidateAcceptsLegalKeys(t *testing.T) {
	for _, s := range []string{
		"", " ", "jonesj@contoso.com", "%", "+", "'", "\u00A0", "\uFFFF", "😀",
		strings.Repeat("a", 512), strings.Repeat("é", 512), strings.Repeat("😀", 256),
	} {
		assert.Equal(t, (keys.Key{Partition: s, Row: s}).Validate(), nil, s)
	}
}

func TestValidateNamesPartRuneAndOffset(t *testing.T) {
	for _, c := range []struct {
		key  keys.Key
		want keys.Error
	}{
		{keys.Key{Partition: "Sales/West", Row: ""}, keys.Error{Part: "PartitionKey", Reason: keys.ForbiddenRune, Rune: '/', Offset: 5}},
		{keys.Key{Partition: "Sales", Row: "é?"}, keys.Error{Part: "RowKey", Reason: keys.ForbiddenRune, Rune: '?', Offset: 2}},
		{keys.Key{Partition: "", Row: "a#"}, keys.Error{Part: "RowKey", Reason: keys.ForbiddenRune, Rune: '#', Offset: 1}},
		{keys.Key{Row: `\`}, keys.Error{Part: "RowKey", Reason: keys.ForbiddenRune, Rune: '\\'}},
		{keys.Key{Partition: "\x00", Row: "/"}, keys.Error{Part: "PartitionKey", Reason: keys.ForbiddenRune}},
		{keys.Key{Partition: "", Row: "tab\t"}, keys.Error{Part: "RowKey", Reason: keys.ForbiddenRune, Rune: '\t', Offset: 3}},
		{keys.Key{Partition: "", Row: "\x7F"}, keys.Error{Part: "RowKey", Reason: keys.ForbiddenRune, Rune: 0x7F}},
		{keys.Key{Partition: "", Row: "\u009F"}, keys.Error{Part: "RowKey", Reason: keys.ForbiddenRune, Rune: 0x9F}},
		{keys.Key{Partition: "", Row: "ab\xFF"}, keys.Error{Part: "RowKey", Reason: keys.InvalidUTF8, Offset: 2}},
		{keys.Key{Partition: "", Row: "\xED\xA0\x80"}, keys.Error{Part: "RowKey", Reason: keys.InvalidUTF8}},
		{keys.Key{Partition: strings.Repeat("a", 513)}, keys.Error{Part: "PartitionKey", Reason: keys.TooLong, Offset: -1}},
		{keys.Key{Row: "a" + strings.Repeat("😀", 256)}, keys.Error{Part: "RowKey", Reason: keys.TooLong, Offset: -1}},
	} {
		err := c.key.Validate()
		var e *keys.Error
		if !errors.As(err, &e) || !errors.Is(err, keys.ErrBadKey) {
			t.Errorf("%+q: got %v", c.key, err)
			continue
		}
		got := *e
		got.Detail = ""
		assert.Equal(t, got, c.want, c.key)
	}
}

func TestErrorMessagesContainTheRuleAndNotTheText(t *testing.T) {
	err := keys.Key{Row: "jones/smith"}.Validate()
	assert.Equal(t, err.Error(), "keys: RowKey: forbidden character U+002F (at byte 5)")
	_, err = keys.Digits(1234, 3)
	assert.Equal(t, err.Error(), "keys: Digits: too many digits: the width is 3")
	if errors.Is(err, errors.ErrUnsupported) {
		t.Error("matches an error of another package")
	}
	for r := keys.ForbiddenRune; r <= keys.BadDefinition; r++ {
		if r.String() == keys.Reason(0).String() {
			t.Errorf("reason %d has no text", r)
		}
	}
}

func FuzzValidate(f *testing.F) {
	f.Add("Sales", "a/b")
	f.Add("\xFF", "")
	f.Fuzz(func(t *testing.T, p, r string) {
		err := keys.Key{Partition: p, Row: r}.Validate()
		fine := func(s string) bool { return utf8.ValidString(s) && legal(s) && units(s) <= 512 }
		assert.Equal(assert.Now(t), err == nil, fine(p) && fine(r), p, r, err)
	})
}
