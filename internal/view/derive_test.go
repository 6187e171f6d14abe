package view

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

type pet struct {
	PartitionKey, RowKey string
	Name                 string
	Age                  int32
}

var rex = &pet{"dogs", "id_1", "Rex", 3}

// set is the Set of views of entities of type T.
func set[T any](t *testing.T, views ...*View) *Set {
	t.Helper()
	codec, err := edm.CodecFor(reflect.TypeFor[T]())
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSet(codec, views, true, func(dst, src any) any {
		d, _ := dst.(*T)
		if d == nil {
			d = new(T)
		}
		*d = *src.(*T)
		return d
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// returning is the view v of pets with the given function.
func (v View) returning(f func(*pet) ([]types.DerivedRow, error)) *View {
	v.Rows = func(entity any) ([]types.DerivedRow, error) { return f(entity.(*pet)) }
	return &v
}

// of is the view v with the same rows for every pet.
func (v View) of(rows ...types.DerivedRow) *View {
	return v.returning(func(*pet) ([]types.DerivedRow, error) { return rows, nil })
}

func copyRow(key keys.Key, spec types.CopySpec) types.DerivedRow {
	return types.DerivedRow{Key: key, Kind: types.Copies, Copy: spec}
}

func mergeRow(key keys.Key, spec types.MergeSpec) types.DerivedRow {
	return types.DerivedRow{Key: key, Kind: types.Merges, Merge: spec}
}

func TestAViewThatBreaksItsContractIsNamed(t *testing.T) {
	at := func(row string) keys.Key { return keys.Key{Partition: "dogs", Row: row} }
	a, b := View{Name: "a"}, View{Name: "b"}
	merging := func(name string) View { return View{Name: name, Shape: types.Shape{Kind: types.Merges}} }
	elsewhere := View{Name: "b", Shape: types.Shape{Target: NewTable("other", nil)}}
	calls := 0
	for name, c := range map[string]struct {
		views []*View
		want  string // in the error; "" if there is none
	}{
		"two views, two rows":            {[]*View{a.of(copyRow(at("x"), types.CopySpec{})), b.of(copyRow(at("y"), types.CopySpec{}))}, ""},
		"the same key in another table":  {[]*View{a.of(copyRow(at("x"), types.CopySpec{})), elsewhere.of(copyRow(at("x"), types.CopySpec{}))}, ""},
		"the primary's key in another":   {[]*View{elsewhere.of(copyRow(at("id_1"), types.CopySpec{}))}, ""},
		"merges of different properties": {[]*View{merging("a").of(mergeRow(at("x"), types.MergeSpec{Set: map[string]any{"P": "1"}})), merging("b").of(mergeRow(at("x"), types.MergeSpec{Add: map[string]any{"Q": int32(1)}}))}, ""},
		"the primary's key":              {[]*View{a.of(copyRow(at("id_1"), types.CopySpec{}))}, `view "a": view breaks its contract: a row has the primary's own key`},
		"the same key in two views":      {[]*View{a.of(copyRow(at("x"), types.CopySpec{})), b.of(copyRow(at("x"), types.CopySpec{}))}, `view "b": view breaks its contract: a row of view "a" has the same key`},
		"the same key twice":             {[]*View{a.of(copyRow(at("x"), types.CopySpec{}), copyRow(at("x"), types.CopySpec{}))}, `two rows have the same key`},
		"an invalid key":                 {[]*View{a.of(copyRow(at("x/y"), types.CopySpec{}))}, `view "a"`},
		"a reserved key":                 {[]*View{a.of(copyRow(at("~azp_x"), types.CopySpec{}))}, `begins with "~azp"`},
		"the wrong kind":                 {[]*View{a.of(types.DerivedRow{Key: at("x"), Kind: types.Members})}, `a row is a member, but the kind of the view's shape is copy`},
		"an unknown field":               {[]*View{a.of(copyRow(at("x"), types.CopySpec{Only: []string{"Nom"}}))}, `property Nom`},
		"an error of its own":            {[]*View{a.returning(func(*pet) ([]types.DerivedRow, error) { return nil, errors.New("no") })}, `view "a": error of type *errors.errorString`},
		"a panic":                        {[]*View{a.returning(func(*pet) ([]types.DerivedRow, error) { panic("secret") })}, `panic of type string`},
		"different results": {[]*View{a.returning(func(*pet) ([]types.DerivedRow, error) {
			calls++
			return []types.DerivedRow{copyRow(at(strings.Repeat("x", calls)), types.CopySpec{})}, nil
		})}, `two calls with the same value returned different rows`},
		"merges of one property":           {[]*View{merging("a").of(mergeRow(at("x"), types.MergeSpec{Set: map[string]any{"P": "1"}})), merging("b").of(mergeRow(at("x"), types.MergeSpec{Add: map[string]any{"P": int32(1)}}))}, `view "a" merges property P into the same row`},
		"a value that is no property":      {[]*View{merging("a").of(mergeRow(at("x"), types.MergeSpec{Set: map[string]any{"P": 1}}))}, `property P`},
		"a part that is no integer":        {[]*View{merging("a").of(mergeRow(at("x"), types.MergeSpec{Add: map[string]any{"P": 1.5}}))}, `property P`},
		"a property both set and counted":  {[]*View{merging("a").of(mergeRow(at("x"), types.MergeSpec{Set: map[string]any{"P": "1"}, Add: map[string]any{"P": int32(1)}}))}, `set and counted`},
		"a property of the library":        {[]*View{merging("a").of(mergeRow(at("x"), types.MergeSpec{Set: map[string]any{"azp_x": "1"}}))}, `azp_x`},
		"a counter named like the library": {[]*View{merging("a").of(mergeRow(at("x"), types.MergeSpec{Add: map[string]any{"azp_x": int32(1)}}))}, `azp_x`},
	} {
		_, err := set[pet](t, c.views...).Derive(rex, keys.Key{Partition: "dogs", Row: "id_1"}, nil)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want == "":
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		case !errors.As(err, new(*types.ViewError)):
			t.Errorf("%s: %v names no view", name, err)
		case strings.Contains(err.Error(), "secret"), strings.Contains(err.Error(), "x/y"):
			t.Errorf("%s: %v contains a value", name, err)
		case !errors.Is(err, azerr.ErrBadView) && name != "an error of its own":
			t.Errorf("%s: %v does not match ErrBadView", name, err)
		}
	}
}

// A view may change its argument and copy that, for example without a secret.
func TestACopyOfTheArgumentIsNotChangedByLaterViews(t *testing.T) {
	at := keys.Key{Partition: "dogs", Row: "copy"}
	anonymous := View{Name: "a"}.returning(func(p *pet) ([]types.DerivedRow, error) {
		p.Name = ""
		return []types.DerivedRow{copyRow(at, types.CopySpec{Entity: p})}, nil
	})
	s := set[pet](t, anonymous, View{Name: "b"}.of(copyRow(keys.Key{Partition: "dogs", Row: "other"}, types.CopySpec{})))
	for range 100 { // with two calls of each view and with one
		rows, err := s.Derive(rex, keys.Key{Partition: "dogs", Row: "id_1"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(rows[0].Body), "Rex") || !strings.Contains(string(rows[1].Body), "Rex") {
			t.Fatalf("%s\n%s", rows[0].Body, rows[1].Body)
		}
	}
	calls := int32(0)
	s = set[pet](t, View{Name: "a"}.returning(func(p *pet) ([]types.DerivedRow, error) {
		calls++
		p.Age = calls
		return []types.DerivedRow{copyRow(at, types.CopySpec{Entity: p})}, nil
	}))
	if _, err := s.Derive(rex, keys.Key{Partition: "dogs", Row: "id_1"}, nil); !errors.Is(err, azerr.ErrBadView) {
		t.Errorf("a view with different results: %v", err)
	}
}

// A function that folds a value in place, to make a key of it, is an easy mistake.
func TestAViewThatAssignsToAFieldDoesNotChangeTheEntity(t *testing.T) {
	var seen []string
	fold := func(p *pet) ([]types.DerivedRow, error) {
		seen = append(seen, p.Name)
		p.Name = strings.ToUpper(p.Name)
		return []types.DerivedRow{copyRow(keys.Key{Partition: "dogs", Row: "name_" + p.Name}, types.CopySpec{})}, nil
	}
	v := *rex
	rows, err := set[pet](t, View{Name: "a"}.returning(fold)).Derive(&v, keys.Key{Partition: "dogs", Row: "id_1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v.Name != rex.Name || slices.ContainsFunc(seen, func(name string) bool { return name != rex.Name }) {
		t.Errorf("the entity's name is %q, the view was called with %q", v.Name, seen)
	}
	if !strings.Contains(string(rows[0].Body), `"`+rex.Name+`"`) {
		t.Errorf("the copy is %s", rows[0].Body)
	}
}

func TestAViewMayReturnItsRowsInAnyOrder(t *testing.T) {
	flip := false
	s := set[pet](t, View{Name: "a"}.returning(func(*pet) ([]types.DerivedRow, error) {
		rows := []types.DerivedRow{copyRow(keys.Key{Partition: "p", Row: "1"}, types.CopySpec{}), copyRow(keys.Key{Partition: "p", Row: "2"}, types.CopySpec{})}
		if flip = !flip; flip {
			rows[0], rows[1] = rows[1], rows[0]
		}
		return rows, nil
	}))
	if _, err := s.Derive(rex, keys.Key{Partition: "dogs", Row: "id_1"}, nil); err != nil {
		t.Error(err)
	}
}

func TestACopyContainsTheRequestedPropertiesAndItsOwner(t *testing.T) {
	primary := keys.Key{Partition: "dogs", Row: "id_1"}
	at := keys.Key{Partition: "dogs", Row: "name_Rex"}
	for want, spec := range map[string]types.CopySpec{
		`{"PartitionKey":"dogs","RowKey":"name_Rex","Name":"Rex","Age":3,"azp_pk":"dogs","azp_rk":"id_1","azp_view":"a"}`: {},
		`{"PartitionKey":"dogs","RowKey":"name_Rex","Age":3,"azp_pk":"dogs","azp_rk":"id_1","azp_view":"a"}`:              {Only: []string{"Age"}},
		`{"PartitionKey":"dogs","RowKey":"name_Rex","azp_pk":"dogs","azp_rk":"id_1","azp_view":"a"}`:                      {Only: []string{}},
	} {
		rows, err := set[pet](t, View{Name: "a"}.of(copyRow(at, spec))).Derive(rex, primary, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(rows[0].Body); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

func TestACopyOfAMapContainsOnlyTheRequestedProperties(t *testing.T) {
	s := set[map[string]any](t, &View{Name: "a", Rows: func(any) ([]types.DerivedRow, error) {
		return []types.DerivedRow{copyRow(keys.Key{Partition: "p", Row: "x"}, types.CopySpec{Only: []string{"B"}})}, nil
	}})
	rows, err := s.Derive(&map[string]any{"PartitionKey": "p", "RowKey": "r", "A": "1", "B": int64(2)}, keys.Key{Partition: "p", Row: "r"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"PartitionKey":"p","RowKey":"x","B@odata.type":"Edm.Int64","B":"2","azp_pk":"p","azp_rk":"r","azp_view":"a"}`
	if got := string(rows[0].Body); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestNoEntityImpliesNoRows(t *testing.T) {
	s := set[pet](t, View{Name: "a"}.returning(func(*pet) ([]types.DerivedRow, error) { return nil, errors.New("called") }))
	if rows, err := s.Derive(nil, keys.Key{}, nil); len(rows) > 0 || err != nil {
		t.Errorf("%v, %v", rows, err)
	}
}
