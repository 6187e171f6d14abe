package patterns

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
)

type pet struct {
	PartitionKey, RowKey string
	Name                 string
	Age                  int32
}

var rex = &pet{"dogs", "id_1", "Rex", 3}

func petViews(t *testing.T, lenses ...*lens) *viewSet[pet] {
	t.Helper()
	codec, err := edm.CodecFor(reflect.TypeFor[pet]())
	if err != nil {
		t.Fatal(err)
	}
	s := &viewSet[pet]{codec: codec, fields: map[string]bool{"Name": true, "Age": true}}
	s.lenses = lenses
	return s
}

// gives adds a view that gives the same rows for every pet.
func (s *viewSet[T]) gives(l *lens, rows ...DerivedRow) *viewSet[T] {
	return s.asks(l, func(*T) ([]DerivedRow, error) { return rows, nil })
}

func (s *viewSet[T]) asks(l *lens, f func(*T) ([]DerivedRow, error)) *viewSet[T] {
	s.lenses, s.rows = append(s.lenses, l), append(s.rows, f)
	return s
}

func TestAViewThatBreaksItsContractIsNamed(t *testing.T) {
	at := func(row string) keys.Key { return keys.Key{Partition: "dogs", Row: row} }
	a, b := &lens{name: "a"}, &lens{name: "b"}
	merging := func(name string) *lens { return &lens{name: name, shape: Shape{Kind: Merges}} }
	elsewhere := &lens{name: "b", target: &tableTarget{id: "other"}}
	calls := 0
	for name, c := range map[string]struct {
		views *viewSet[pet]
		says  string // "" if it is fine
	}{
		"two views, two rows":      {petViews(t).gives(a, CopyRow(at("x"), Copy{})).gives(b, CopyRow(at("y"), Copy{})), ""},
		"the same key in another":  {petViews(t).gives(a, CopyRow(at("x"), Copy{})).gives(elsewhere, CopyRow(at("x"), Copy{})), ""},
		"primary's key in another": {petViews(t).gives(elsewhere, CopyRow(at("id_1"), Copy{})), ""},
		"merges beside each other": {petViews(t).gives(merging("a"), MergeRow(at("x"), Merged{Set: map[string]any{"P": "1"}})).
			gives(merging("b"), MergeRow(at("x"), Merged{Add: map[string]any{"Q": int32(1)}})), ""},

		"primary's key": {petViews(t).gives(a, CopyRow(at("id_1"), Copy{})), `view "a": view breaks its contract: a row has the primary's own key`},
		"collision":     {petViews(t).gives(a, CopyRow(at("x"), Copy{})).gives(b, CopyRow(at("x"), Copy{})), `view "b": view breaks its contract: a row of view "a" has the same key`},
		"twice":         {petViews(t).gives(a, CopyRow(at("x"), Copy{}), CopyRow(at("x"), Copy{})), `two rows have the same key`},
		"bad key":       {petViews(t).gives(a, CopyRow(at("x/y"), Copy{})), `view "a"`},
		"reserved key":  {petViews(t).gives(a, CopyRow(at("~azp_x"), Copy{})), `begins with "~azp"`},
		"wrong kind":    {petViews(t).gives(a, MemberRow(at("x"))), `a member where the view's shape says copy`},
		"unknown field": {petViews(t).gives(a, CopyRow(at("x"), Copy{Only: []string{"Nom"}})), `property Nom`},
		"own error":     {petViews(t).asks(a, func(*pet) ([]DerivedRow, error) { return nil, errors.New("no") }), `view "a": no`},
		"panic":         {petViews(t).asks(a, func(*pet) ([]DerivedRow, error) { panic("secret") }), `panic of type string`},
		"changes its mind": {petViews(t).asks(a, func(*pet) ([]DerivedRow, error) {
			calls++
			return []DerivedRow{CopyRow(at(strings.Repeat("x", calls)), Copy{})}, nil
		}), `two calls with the same value gave different rows`},
		"merges collide": {petViews(t).gives(merging("a"), MergeRow(at("x"), Merged{Set: map[string]any{"P": "1"}})).
			gives(merging("b"), MergeRow(at("x"), Merged{Add: map[string]any{"P": int32(1)}})), `view "a" merges property P into the same row`},
		"bad value":    {petViews(t).gives(merging("a"), MergeRow(at("x"), Merged{Set: map[string]any{"P": 1}})), `property P`},
		"bad part":     {petViews(t).gives(merging("a"), MergeRow(at("x"), Merged{Add: map[string]any{"P": 1.5}})), `property P`},
		"set, counted": {petViews(t).gives(merging("a"), MergeRow(at("x"), Merged{Set: map[string]any{"P": "1"}, Add: map[string]any{"P": int32(1)}})), `set and counted`},
		"our property": {petViews(t).gives(merging("a"), MergeRow(at("x"), Merged{Set: map[string]any{"azp_x": "1"}})), `azp_x`},
	} {
		_, err := c.views.derive(rex, keys.Key{Partition: "dogs", Row: "id_1"})
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.says == "":
		case err == nil || !strings.Contains(err.Error(), c.says):
			t.Errorf("%s: got %v, want %q", name, err, c.says)
		case !errors.As(err, new(*ViewError)):
			t.Errorf("%s: %v names no view", name, err)
		case strings.Contains(err.Error(), "secret"), strings.Contains(err.Error(), "x/y"):
			t.Errorf("%s: %v tells a value", name, err)
		case !errors.Is(err, ErrBadView) && name != "own error":
			t.Errorf("%s: %v does not match ErrBadView", name, err)
		}
	}
}

// The function of an index that folds its value in place is an easy mistake.
func TestAViewThatSetsAFieldChangesNobodysEntity(t *testing.T) {
	var seen []string
	look := func(p *pet) ([]DerivedRow, error) {
		seen = append(seen, p.Name)
		p.Name = strings.ToUpper(p.Name)
		return []DerivedRow{CopyRow(keys.Key{Partition: "dogs", Row: "name_" + p.Name}, Copy{})}, nil
	}
	v := *rex
	rows, err := petViews(t).asks(&lens{name: "a"}, look).derive(&v, keys.Key{Partition: "dogs", Row: "id_1"})
	if err != nil {
		t.Fatal(err)
	}
	if v.Name != rex.Name || slices.ContainsFunc(seen, func(name string) bool { return name != rex.Name }) {
		t.Errorf("the entity is called %q, the view saw %q", v.Name, seen)
	}
	if !strings.Contains(string(rows[0].body), `"`+rex.Name+`"`) {
		t.Errorf("the copy is %s", rows[0].body)
	}
}

func TestRowsMayComeInAnyOrder(t *testing.T) {
	flip := false
	s := petViews(t).asks(&lens{name: "a"}, func(*pet) ([]DerivedRow, error) {
		rows := []DerivedRow{CopyRow(keys.Key{Partition: "p", Row: "1"}, Copy{}), CopyRow(keys.Key{Partition: "p", Row: "2"}, Copy{})}
		if flip = !flip; flip {
			rows[0], rows[1] = rows[1], rows[0]
		}
		return rows, nil
	})
	if _, err := s.derive(rex, keys.Key{Partition: "dogs", Row: "id_1"}); err != nil {
		t.Error(err)
	}
}

func TestACopyHoldsWhatItIsAskedToAndItsOwner(t *testing.T) {
	primary := keys.Key{Partition: "dogs", Row: "id_1"}
	at := keys.Key{Partition: "dogs", Row: "name_Rex"}
	for want, c := range map[string]Copy{
		`{"PartitionKey":"dogs","RowKey":"name_Rex","Name":"Rex","Age":3,"azp_pk":"dogs","azp_rk":"id_1","azp_view":"a"}`: {},
		`{"PartitionKey":"dogs","RowKey":"name_Rex","Age":3,"azp_pk":"dogs","azp_rk":"id_1","azp_view":"a"}`:              {Only: []string{"Age"}},
		`{"PartitionKey":"dogs","RowKey":"name_Rex","azp_pk":"dogs","azp_rk":"id_1","azp_view":"a"}`:                      {Only: []string{}},
	} {
		rows, err := petViews(t).gives(&lens{name: "a"}, CopyRow(at, c)).derive(rex, primary)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(rows[0].body); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

func TestABagIsCopiedInPartToo(t *testing.T) {
	codec, err := edm.CodecFor(reflect.TypeFor[map[string]any]())
	if err != nil {
		t.Fatal(err)
	}
	s := &viewSet[map[string]any]{codec: codec}
	s.gives(&lens{name: "a"}, CopyRow(keys.Key{Partition: "p", Row: "x"}, Copy{Only: []string{"B"}}))
	rows, err := s.derive(&map[string]any{"PartitionKey": "p", "RowKey": "r", "A": "1", "B": int64(2)}, keys.Key{Partition: "p", Row: "r"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"PartitionKey":"p","RowKey":"x","B@odata.type":"Edm.Int64","B":"2","azp_pk":"p","azp_rk":"r","azp_view":"a"}`
	if got := string(rows[0].body); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
