package keys_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
)

type review struct {
	ID   int `key:"digits=6"`
	Year int `key:"digits=4"`
}

type guid [16]byte

type name string

// everything has a field of each format.
type everything struct {
	Text    string
	Named   name
	Folded  string `key:"fold"`
	Width   uint16 `key:"digits=6"`
	Signed  int64
	Small   int8
	Plain   uint64
	Float   float64
	Float32 float32
	Bool    bool
	At      time.Time `key:"ticks"`
	Newest  time.Time `key:"invticks"`
	ID      [16]byte
	Named16 guid   `key:"uuid"`
	IDText  string `key:"uuid"`
	Note    string `key:"-"`
}

const someUUID = "8f3a2c10-0001-4e5f-9a6b-7c8d9e0f1a2b"

func layout[K any](t assert.T, prefix string) *keys.Layout[K] {
	t.Helper()
	l := assert.Must(keys.NewLayout[K](&keys.LayoutOptions{Prefix: prefix}))(t)
	return l
}

func TestLayoutFormatsEachKindOfField(t *testing.T) {
	l := layout[everything](t, "all_")
	id := [16]byte{0: 0x8f, 15: 1}
	in := everything{
		Text: "a_b/c", Named: "n", Folded: "Jonesj@Contoso.COM", Width: 123, Signed: -1, Small: 5, Plain: 7, Float: 1.5, Float32: -1.5,
		Bool: true, At: instant(t, "2026-01-01T00:00:00Z"), Newest: instant(t, "2026-01-01T01:00:00+01:00"),
		ID: id, Named16: id, IDText: someUUID, Note: "left out",
	}
	want := strings.Join([]string{
		"all", "a^\uFFEEb.\uFFEEc", "n", "jonesj@contoso.com", "000123", "-9999999999999999999", "00000000000000000005", "00000000000000000007",
		"bff8000000000000", "4007ffffffffffff", "1", "0639028224000000000", "2516350751999999999",
		"8f000000-0000-0000-0000-000000000001", "8f000000-0000-0000-0000-000000000001", someUUID,
	}, "_")
	got := assert.Must(l.Format(in))(t)
	assert.Equal(assert.Now(t), got, want)
	back, err := l.Parse(got)
	in.Folded, in.Note, in.Newest = "jonesj@contoso.com", "", in.Newest.UTC()
	assert.NoError(t, err)
	assert.Equal(assert.Now(t), back, in)
}

func TestLayoutMatchesTheDesignGuide(t *testing.T) {
	l := layout[review](t, "")
	got := assert.Must(l.Format(review{123, 2012}))(t)
	assert.Equal(assert.Now(t), got, "000123_2012")
	for fields, want := range []keys.Range{{}, {From: "000123_", To: "000123`"}, {From: "000123_2012", To: "000123_2012 "}} {
		assert.Equal(t, assert.Must(l.Range(review{123, 2012}, fields))(t), want)
	}
	one, _ := l.Range(review{ID: 123}, 1)
	for s, want := range map[string]bool{
		"000123_2012": true, "000123_": true, "000123_2012_1": true, "000123_\uFFFF": true,
		"000123": false, "0001230": false, "0001230_2012": false, "000124": false, "000124_2012": false, "000122_2012": false, "000123 ": false,
	} {
		assert.Equal(t, one.Contains(s), want, "Range of the first field contains", s, !want)
	}
	// Further fields are ignored.
	assert.Equal(t, assert.ErrorOf(l.Range(review{ID: 123, Year: -1}, 1)), nil)
}

func TestRangeOfAllFieldsContainsOnlyTheKey(t *testing.T) {
	type part struct{ Text string }
	for _, n := range []int{0, 1, 511, 512} {
		l := layout[part](t, "")
		k := part{strings.Repeat("a", n)}
		key := assert.Must(l.Format(k))(t)
		r, err := l.Range(k, 1)
		if err != nil || !r.Contains(key) || units(r.To) > 512 {
			t.Fatalf("%d units: bound of %d units, %v", n, units(r.To), err)
		}
		for _, other := range words(edges, 1) {
			if s := key + other; other != "" && units(s) <= 512 && r.Contains(s) {
				t.Errorf("%d units: contains the key with %+q appended", n, other)
			}
		}
		if n > 0 && (r.Contains(key[1:]) || r.Contains(key[1:]+"b")) {
			t.Errorf("%d units: contains a neighbour of the key", n)
		}
	}
}

func TestLayoutRejectsValuesAndNamesTheField(t *testing.T) {
	l := layout[everything](t, "")
	fine := everything{IDText: someUUID}
	fine.At, fine.Newest = time.Unix(0, 0), time.Unix(0, 0)
	assert.NoError(t, assert.ErrorOf(l.Format(fine)))
	for part, spoil := range map[string]func(*everything){
		"field Text":   func(e *everything) { e.Text = "secret\xFF" },
		"field Named":  func(e *everything) { e.Named = "secret\xC2" },
		"field Folded": func(e *everything) { e.Folded = "SECRET\xFF" },
		"field Float":  func(e *everything) { e.Float = math.NaN() },
		"field At":     func(e *everything) { e.At = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"field Newest": func(e *everything) { e.Newest = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC) },
		"field IDText": func(e *everything) { e.IDText = strings.ToUpper(someUUID) },
		"Format":       func(e *everything) { e.Text = strings.Repeat("secret", 100) },
	} {
		bad := fine
		spoil(&bad)
		_, err := l.Format(bad)
		if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(strings.ToLower(err.Error()), "secret") {
			t.Errorf("%s: %v", part, err)
		}
	}
	r := layout[review](t, "")
	_, err := r.Format(review{ID: 1234567})
	mustFail(t, err, keys.TooWide, "1234567")
	_, err = r.Format(review{ID: -1})
	mustFail(t, err, keys.OutOfRange, "")
	for _, n := range []int{-1, 3} {
		_, err = r.Range(review{}, n)
		mustFail(t, err, keys.BadDefinition, "")
	}
	_, err = r.Range(review{ID: -1}, 1)
	mustFail(t, err, keys.OutOfRange, "")
	type pair struct{ A, B string }
	_, err = layout[pair](t, "").Range(pair{A: strings.Repeat("a", 512)}, 1)
	mustFail(t, err, keys.TooLong, "aaaa")
}

func TestParseAcceptsOnlyTextThatFormatReturns(t *testing.T) {
	l := layout[review](t, "rev_")
	for s, part := range map[string]string{
		"000123_2012": "Parse", "rev_000123": "Parse", "rev_000123_2012_1": "Parse", "": "Parse", "rev_": "Parse",
		"rev_123_2012": "field ID", "rev_000123_20121": "field Year", "rev_000123_20x2": "field Year", "rev_-00123_2012": "field ID",
	} {
		_, err := l.Parse(s)
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("Parse(%q): %v, want an error that names %s", s, err, part)
		}
	}
	type small struct {
		I8   int8    `key:"digits=3"`
		U8   uint8   `key:"digits=3"`
		Sign int8    // Int64
		F    float32 // Float64
		B    bool
		S    string `key:"fold"`
		Big  int64  `key:"digits=20"`
	}
	sl := layout[small](t, "")
	good := assert.Must(sl.Format(small{127, 255, -128, 0.5, true, "aé", math.MaxInt64}))(t)
	for i, bad := range []string{"128", "256", keys.Int64(128), "bfb999999999999a", "2", "A", "09223372036854775808"} {
		parts := strings.Split(good, "_")
		assert.NoError(t, assert.ErrorOf(sl.Parse(strings.Join(parts, "_"))))
		parts[i] = bad
		got, err := sl.Parse(strings.Join(parts, "_"))
		if f := reflect.TypeFor[small]().Field(i).Name; err == nil || !strings.Contains(err.Error(), "field "+f) || got != (small{}) {
			t.Errorf("%s = %q: %+v, %v", f, bad, got, err)
		}
	}
	type text struct{ T string }
	for _, s := range []string{strings.Repeat("a", 513), strings.Repeat("😀", 257)} {
		_, err := layout[text](t, "").Parse(s)
		mustFail(t, err, keys.TooLong, s)
	}
}

func definitionError[K any](t *testing.T, want string) {
	t.Helper()
	_, err := keys.NewLayout[K](nil)
	mustFail(t, err, keys.BadDefinition, "")
	assert.Contains(t, err.Error(), want, err, "does not name")
}

func TestNewLayoutRejectsTypesThatCannotBeAKey(t *testing.T) {
	definitionError[int](t, "int")
	definitionError[*review](t, "struct")
	definitionError[time.Time](t, "time.Time")
	definitionError[any](t, "interface")
	definitionError[struct{}](t, "no field")
	definitionError[struct {
		A string `key:"-"`
	}](t, "no field")
	definitionError[struct{ hidden string }](t, "field hidden")
	definitionError[struct{ At time.Time }](t, "field At")
	definitionError[struct{ P *int }](t, "field P")
	definitionError[struct{ B []byte }](t, "field B")
	definitionError[struct{ U uintptr }](t, "field U")
	definitionError[struct{ review }](t, "field review")
	definitionError[struct{ A [15]byte }](t, "field A")
	definitionError[struct {
		A string `key:"digts=6"`
	}](t, "field A")
	definitionError[struct {
		A int `key:"digits"`
	}](t, "field A")
	definitionError[struct {
		A int `key:"digits=0"`
	}](t, "field A")
	definitionError[struct {
		A int `key:"digits=+6"`
	}](t, "field A")
	definitionError[struct {
		A int `key:"digits=513"`
	}](t, "field A")
	definitionError[struct {
		A string `key:"digits=6"`
	}](t, "field A")
	definitionError[struct {
		A int `key:"fold"`
	}](t, "field A")
	definitionError[struct {
		A int `key:"ticks"`
	}](t, "field A")
	definitionError[struct {
		A time.Time `key:"invticks=1"`
	}](t, "field A")
	definitionError[struct {
		A int `key:"uuid"`
	}](t, "field A")
	definitionError[struct {
		A string `key:"fold,uuid"`
	}](t, "field A")

	_, err := keys.NewLayout[review](&keys.LayoutOptions{Prefix: "emp/"})
	mustFail(t, err, keys.ForbiddenRune, "emp/")

	var zero keys.Layout[review]
	_, err = zero.Format(review{})
	mustFail(t, err, keys.BadDefinition, "")
	_, err = zero.Parse("")
	mustFail(t, err, keys.BadDefinition, "")
	_, err = zero.Range(review{}, 0)
	mustFail(t, err, keys.BadDefinition, "")
}

// mixed has fields of variable width at the beginning, in the middle and at the end.
type mixed struct {
	A string
	N int `key:"digits=2"`
	B string
	C string `key:"fold"`
}

func anyMixed(text *rapid.Generator[string]) *rapid.Generator[mixed] {
	return rapid.Custom(func(t *rapid.T) mixed {
		return mixed{text.Draw(t, "A"), rapid.IntRange(0, 99).Draw(t, "N"), text.Draw(t, "B"), strings.ToLower(text.Draw(t, "C"))}
	})
}

func TestLayoutIsInjectiveAndItsRangesExact(t *testing.T) {
	l := layout[mixed](t, "p_")
	few := rapid.StringOfN(rapid.SampledFrom([]rune("_0^/ \uFFEE")), 0, 2, -1)
	rapid.Check(t, func(t *rapid.T) {
		g := anyMixed(rapid.OneOf(few, anyText()))
		a, b := g.Draw(t, "a"), g.Draw(t, "b")
		// Make equal first fields likely.
		switch rapid.IntRange(0, 4).Draw(t, "shared") {
		case 4:
			b.C = a.C
			fallthrough
		case 3:
			b.B = a.B
			fallthrough
		case 2:
			b.N = a.N
			fallthrough
		case 1:
			b.A = a.A
		}
		x := assert.Must(l.Format(a))(t)
		y := assert.Must(l.Format(b))(t)
		assert.Equal(assert.Now(t), x == y, a == b, a, "and", b, "have the keys", x, "and", y)
		assert.NoError(t, (keys.Key{Row: x}).Validate())
		assert.Equal(assert.Now(t), assert.Must(l.Parse(x))(t), a)
		same := []bool{true, a.A == b.A, a.N == b.N, a.B == b.B, a.C == b.C}
		want := true
		for n := range same {
			want = want && same[n]
			r := assert.Must(l.Range(a, n))(t)
			assert.Equal(assert.Now(t), r.Contains(y), want)
		}
	})
}

func FuzzLayout(f *testing.F) {
	f.Add("a", "b", uint8(12), "p_a_12_b_c")
	f.Add("a_", "b", uint8(1), "p_\uFFEE_00__")
	f.Add("a", "_b", uint8(0), "p_a.\uFFEE_00__É")
	f.Fuzz(func(t *testing.T, a, b string, n uint8, s string) {
		l := layout[mixed](t, "p_")
		in := mixed{A: a, N: int(n), B: b}
		if text, err := l.Format(in); err == nil {
			assert.NoError(t, (keys.Key{Partition: text}).Validate(), text, "is not a key")
			assert.Equal(assert.Now(t), assert.Must(l.Parse(text))(t), in)
		}
		if k, err := l.Parse(s); err == nil {
			if text, err := l.Format(k); err != nil || text != s {
				t.Fatalf("Parse accepts %+q, but Format returns %+q, %v", s, text, err)
			}
		}
	})
}

func TestFoldIsStable(t *testing.T) {
	type folded struct {
		S string `key:"fold"`
	}
	l := layout[folded](t, "")
	for _, r := range allRunes() {
		text := assert.Must(l.Format(folded{string(r)}))(t)
		back := assert.Must(l.Parse(text))(t)
		assert.Equal(assert.Now(t), back.S, strings.ToLower(string(r)))
	}
}

func TestLayoutFormatAllocatesOnlyTheKey(t *testing.T) {
	type row struct {
		ID    int       `key:"digits=6"`
		Email string    `key:"fold"`
		At    time.Time `key:"invticks"`
		Op    [16]byte
	}
	l := layout[row](t, "log_")
	k := row{ID: 123, Email: "jonesj@contoso.com", At: time.Unix(0, 0)}
	// One for the struct, which is read by reflection, and one for the text.
	if n := testing.AllocsPerRun(100, func() {
		assert.NoError(t, assert.ErrorOf(l.Format(k)))
	}); n > 2 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLayoutFormat(b *testing.B) {
	l := layout[review](b, "")
	b.ReportAllocs()
	for b.Loop() {
		assert.NoError(b, assert.ErrorOf(l.Format(review{123, 2012})))
	}
}

func BenchmarkLayoutParse(b *testing.B) {
	l := layout[review](b, "")
	b.ReportAllocs()
	for b.Loop() {
		assert.NoError(b, assert.ErrorOf(l.Parse("000123_2012")))
	}
}
