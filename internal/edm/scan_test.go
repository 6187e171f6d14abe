package edm

import (
	"bytes"
	"encoding/json"
	"github.com/azpatterns/azpatterns/internal/assert"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// scanAll scans a whole text.
func scanAll(text []byte) (token, *MalformedError) {
	s := scanner{data: text}
	var t token
	if s.value(&t, 0) {
		s.atEnd()
	}
	return t, s.err
}

var scanSeeds = []string{
	`{}`, `[]`, `""`, `0`, `-0`, `1.5e+10`, `true`, `false`, `null`, " \t\r\n1 \n", `{"a":[1,2,{"b":null}],"c":"d"}`,
	`"\u00e9\ud83d\ude00\n\t\r\b\f\\\/\""`, `"\ud800"`, `"\ud800\u0041"`, `"\udc00"`, "\"é😀\"", `"12345678901234567890\""`,
	``, ` `, `{`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{a:1}`, `{"a" 1}`, `[1,]`, `[,1]`, `[1 2]`, `]`, `}`,
	`01`, `-`, `-a`, `1.`, `.5`, `1e`, `1e+`, `+1`, `1.e5`, `0x1`, `1_0`, `NaN`, `Infinity`, `--1`, `1e5.5`, `1 1`, `tru`, `truE`, `nulll`, `True`,
	`"\x"`, `"\u12"`, `"\u12g4"`, `"\`, `"\"`, "\"a\nb\"", "\"\x00\"", "\"\x1f\"", "\"\x7f\"", "\"\xff\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"1234567\xff\"",
	`'a'`, `{"a":1}x`, `// c`, "\ufeff1", `"abcdefgh` + "\x01" + `"`, `"abcdefg\"hijklmnop"`, `1e400`, `-1e400`, `123456789012345678901234567890`,
}

func TestScannerAcceptsWhatEncodingJSONAccepts(t *testing.T) {
	for _, text := range scanSeeds {
		compareScan(t, []byte(text))
	}
	for _, depth := range []int{1, 10, 9999, 10000, 10001, 20000} {
		compareScan(t, []byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)))
		compareScan(t, []byte(strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth)))
	}
}

// TestScannerChecksEveryByteOfAString puts every byte at every position of the eight bytes
// that are scanned together.
func TestScannerChecksEveryByteOfAString(t *testing.T) {
	for at := range 20 {
		for c := range 256 {
			text := []byte(`"abcdefghijklmnopqrst"`)
			text[1+at] = byte(c)
			compareScan(t, text)
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, text := range scanSeeds {
		f.Add([]byte(text))
	}
	f.Add(benchPage(f)[:2000])
	f.Fuzz(func(t *testing.T, text []byte) { compareScan(t, text) })
}

// compareScan compares the scanner with encoding/json: the same texts are valid, except those
// that are not UTF-8, and strings and numbers have the same values.
func compareScan(t *testing.T, text []byte) {
	t.Helper()
	tok, err := scanAll(text)
	// Outside strings, encoding/json refuses what is not ASCII itself.
	assert.Equal(assert.Now(t), json.Valid(text) && utf8.Valid(text), err == nil, "scanner", err, "encoding/json and UTF-8: valid=", text)
	if err != nil {
		if err.Offset < 0 || err.Offset > len(text) {
			t.Fatalf("offset %d outside a text of %d bytes", err.Offset, len(text))
		}
		return
	}
	raw := text[tok.start:tok.end]
	switch tok.kind {
	case tokString:
		compareString(t, text, raw)
	case tokNumber:
		compareNumber(t, tok, raw)
	case tokTrue, tokFalse, tokNull, tokNested:
		if !bytes.Equal(raw, bytes.TrimSpace(text)) {
			t.Fatalf("%q became %q", text, raw)
		}
	default:
		t.Fatalf("no token for %q", text)
	}
}

func compareString(t *testing.T, text, raw []byte) {
	t.Helper()
	var want string
	assert.NoError(t, json.Unmarshal(text, &want))
	got, paired := unescape(nil, raw)
	if !paired {
		// encoding/json replaces half a surrogate pair by U+FFFD.
		if !strings.ContainsRune(want, utf8.RuneError) {
			t.Fatalf("half a surrogate pair accepted in %q", text)
		}
		return
	}
	assert.Equal(assert.Now(t), string(got), want, text, "is", got)
}

func compareNumber(t *testing.T, tok token, raw []byte) {
	t.Helper()
	want, err := strconv.ParseFloat(string(raw), 64)
	got, ok := parseFloat(raw, 64)
	if ok != (err == nil) || ok && math.Float64bits(got) != math.Float64bits(want) {
		t.Fatalf("%q is %v %v, want %v %v", raw, got, ok, want, err)
	}
	wantInt, err := strconv.ParseInt(string(raw), 10, 64)
	gotInt, ok := parseInt(raw)
	if ok != (err == nil) || ok && gotInt != wantInt {
		t.Fatalf("%q is %v %v, want %v %v", raw, gotInt, ok, wantInt, err)
	}
	if tok.integer == bytes.ContainsAny(raw, ".eE") {
		t.Fatalf("%q: integer is %v", raw, tok.integer)
	}
}

func TestParseIntReadsDecimalTextOnly(t *testing.T) {
	for _, text := range []string{"", "-", "+1", "1 ", " 1", "1.0", "1e3", "0x1", "9223372036854775808", "-9223372036854775809",
		"99999999999999999999", "--1", "-00000000000000000000000000001x"} {
		if v, ok := parseInt([]byte(text)); ok {
			t.Errorf("%q is %d", text, v)
		}
	}
	for text, want := range map[string]int64{"0": 0, "-0": 0, "007": 7, "9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64,
		"000000000000000000000000000012": 12, "-00000000000000000000009223372036854775808": math.MinInt64} {
		if v, ok := parseInt([]byte(text)); !ok || v != want {
			t.Errorf("%q is %d %v, want %d", text, v, ok, want)
		}
	}
}
