package edm

import (
	"bytes"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// splitAndJoin splits an entity over rows and joins it from a page of them.
func splitAndJoin(t testing.TB, v map[string]any, rows int) map[string]any {
	t.Helper()
	codec := assert.Must(SplitCodecFor(reflect.TypeFor[map[string]any](), nil))(t)
	s, err := codec.Split(&v, SplitSpec{Rows: rows, Note: "azp_note", RowOf: func(name string, piece int) int {
		return (len(name) + piece) % rows
	}})
	assert.NoError(t, err)
	page := []byte(`{"odata.metadata":"m","value":[`)
	var use []int
	for i := range rows {
		if i > 0 {
			page = append(page, ',')
		}
		start := len(page) + 1
		if page, err = s.AppendRow(page, i, "p", "r", "note"); err != nil {
			t.Fatal(err)
		}
		page = slices.Insert(page, start, []byte(`"odata.etag":"\"e\"",`)...)
		use = append(use, i)
	}
	var g StoredRows
	assert.NoError(t, g.AddPage(append(page, "]}"...)))
	for _, r := range g.Rows {
		if r.RowKey != "r" || r.Text("azp_note") != "note" || r.Text("azp_1_A") != "" {
			t.Fatal("a row has other keys, or not the note")
		}
	}
	var got map[string]any
	var unknown Unknown
	assert.NoError(t, codec.Join(&g, JoinSpec{Use: use, Splits: s.Splits}, &got, &unknown))
	assert.Equal(assert.Now(t), len(unknown.raw), 0, "a property was not stored in the map")
	delete(got, partitionKeyName)
	delete(got, rowKeyName)
	return got
}

func FuzzSplitAndJoin(f *testing.F) {
	f.Add("text", []byte("bytes"), uint16(0), uint8(1))
	f.Add("é😀\"\\\x00", []byte{0, 255}, uint16(9000), uint8(3))
	f.Add(strings.Repeat("😀", 5), []byte("abc"), uint16(21846), uint8(7))
	f.Fuzz(func(t *testing.T, text string, b []byte, times uint16, rows uint8) {
		if !utf8.ValidString(text) {
			return
		}
		n := int(times)
		if n*max(len(text), len(b)) > 500_000 {
			n = 1
		}
		v := map[string]any{"A": strings.Repeat(text, n), "BB": bytes.Repeat(append([]byte{}, b...), n), "C": int64(n)}
		got := splitAndJoin(t, v, 1+int(rows)%9)
		if !maps.EqualFunc(got, v, equalValue) {
			t.Error("the joined entity is not the one that was split")
		}
	})
}

func TestPiecesEndBetweenCharacters(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("x", 32767) + "😀y",
		strings.Repeat("x", 32768) + "y",
		strings.Repeat("é", 32768) + "é",
		strings.Repeat("😀", 16384) + "😀",
	} {
		whole, pieces := s, 0
		var got string
		for s != "" {
			var piece string
			piece, s = cutText(s, pieceUnits)
			if utf16Length(piece) > pieceUnits || !utf8.ValidString(piece) || piece == "" {
				t.Fatalf("a piece of %d units", utf16Length(piece))
			}
			got += piece
			pieces++
		}
		assert.Equal(t, got, whole)
		assert.Equal(t, pieces, 2)
	}
}

// A codec for split entities remembers more names than others.
func TestJoinRemembersManyNames(t *testing.T) {
	v := map[string]any{}
	for i := range 3000 {
		v["N"+strings.Repeat("x", i%40)+string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676))] = int32(i)
	}
	for range 3 {
		if got := splitAndJoin(t, v, 40); !maps.EqualFunc(got, v, equalValue) {
			t.Fatal("the joined entity is not the one that was split")
		}
	}
}

func TestJoinRefusesIncompleteEntities(t *testing.T) {
	codec, _ := SplitCodecFor(reflect.TypeFor[map[string]any](), nil)
	for name, c := range map[string]struct {
		page   string
		splits map[string]int
	}{
		"a piece is missing":      {`{"value":[{ETAG,"A":"x","azp_1_A":"y"}]}`, map[string]int{"A": 3}},
		"the first is missing":    {`{"value":[{ETAG,"azp_1_A":"y"}]}`, map[string]int{"A": 2}},
		"a piece of another type": {`{"value":[{ETAG,"A":"x","azp_1_A@odata.type":"Edm.Binary","azp_1_A":"eQ=="}]}`, map[string]int{"A": 2}},
		"a piece is a number":     {`{"value":[{ETAG,"A":"x","azp_1_A":1}]}`, map[string]int{"A": 2}},
		"a property in both rows": {`{"value":[{ETAG,"A":"x"},{ETAG,"A":"x"}]}`, nil},
		"a property twice in one": {`{"value":[{ETAG,"A":"x","A":"x"}]}`, nil},
	} {
		var g StoredRows
		assert.NoError(t, g.AddPage([]byte(strings.ReplaceAll(c.page, "ETAG", `"odata.etag":"\"e\""`))), name)
		use := []int{}
		for i := range g.Rows {
			use = append(use, i)
		}
		var got map[string]any
		assert.Failed(t, codec.Join(&g, JoinSpec{Use: use, Splits: c.splits}, &got, nil), name, "no error")
	}
	var p *types.PropertyError
	var g StoredRows
	_ = g.AddPage([]byte(`{"value":[{"odata.etag":"\"e\"","A":"x"}]}`))
	var got map[string]any
	if err := codec.Join(&g, JoinSpec{Use: []int{0}, Splits: map[string]int{"A": 2}}, &got, nil); !errors.As(err, &p) || !errors.Is(err, azerr.ErrBadReply) {
		t.Errorf("got %v, want a bad reply that names the property", err)
	}
}

func TestAddPageRefusesWhatIsNotAPage(t *testing.T) {
	for _, body := range []string{``, `{}`, `[]`, `{"odata.error":{}}`, `{"value":{}}`, `{"value":[1]}`, `{"value":[],"value":[]}`, `{"value":[]} x`, `{"value":[],}`, `{"value":[{"odata.etag":"\"e\"",}]}`} {
		var g StoredRows
		var malformed *MalformedError
		if err := g.AddPage([]byte(body)); !errors.As(err, &malformed) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func FuzzAddPage(f *testing.F) {
	for _, page := range []string{
		`{"odata.metadata":"m","value":[{"RowKey":"a","odata.etag":"\"e\"","Timestamp":"2026-01-01T00:00:00Z","azp_x":"t\u0041"}]}`,
		`{"value":[]}`, `{"value":[{}]}`, `{"value":[{}`, `{`, ``, `{"value":1}`, `[]`, `{"value":[{"a":{"b":[1]}}]}x`,
	} {
		f.Add([]byte(page))
	}
	codec, _ := SplitCodecFor(reflect.TypeFor[map[string]any](), nil)
	plain, _ := CodecFor(reflect.TypeFor[map[string]any]())
	f.Fuzz(func(t *testing.T, page []byte) {
		var g StoredRows
		if err := g.AddPage(page); err != nil {
			assert.Equal(assert.Now(t), len(g.Rows), 0)
			assert.Equal(t, len(g.data), 0)
			return
		}
		for i := range g.Rows {
			var got, want map[string]any
			gerr := codec.Join(&g, JoinSpec{Use: []int{i}}, &got, nil)
			if gerr != nil {
				continue
			}
			n := 0
			err := plain.DecodePage(page, func() (any, *Meta, *Unknown) {
				defer func() { n++ }()
				if n == i {
					return &want, nil, nil
				}
				return new(map[string]any), nil, nil
			})
			if err != nil {
				continue
			}
			for _, m := range []map[string]any{got, want} {
				maps.DeleteFunc(m, func(name string, _ any) bool {
					return slices.Contains([]string{partitionKeyName, rowKeyName, timestampName}, name)
				})
			}
			if !maps.EqualFunc(got, want, equalValue) {
				t.Error("a joined row is not that row decoded")
			}
		}
	})
}
