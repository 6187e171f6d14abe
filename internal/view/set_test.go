package view

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/patterns/types"
)

func TestASetNamesTheViewItRefuses(t *testing.T) {
	codec, err := edm.CodecFor(reflect.TypeFor[pet]())
	if err != nil {
		t.Fatal(err)
	}
	named := func(name string, shape types.Shape) *View { return &View{Name: name, Shape: shape} }
	for want, c := range map[string]struct {
		views  []*View
		outbox bool
	}{
		`view "a": view breaks its contract: two views have this name`:          {[]*View{named("a", types.Shape{}), named("a", types.Shape{})}, true},
		`a name has 1 to 64 letters`:                                            {[]*View{named("a b", types.Shape{})}, true},
		`view "a": view breaks its contract: it leaves the primary's partition`: {[]*View{named("a", types.Shape{Remote: true})}, false},
		`view "b": view breaks its contract: it leaves the primary's partition`: {[]*View{named("b", types.Shape{Target: NewTable("x", nil)})}, false},
		`its target has no ID`:                                                  {[]*View{named("a", types.Shape{Target: NewTable("", nil)})}, true},
		`view "a": view breaks its contract: its shape has no List`:             {[]*View{named("a", types.Shape{Kind: types.Members})}, true},
		`view "far": view breaks its contract: its shape has no List`:           {[]*View{named("far", types.Shape{Kind: types.Members, Target: NewTable("x", nil)})}, true},
		`view "a": view breaks its contract: its shape has an unknown kind`:     {[]*View{named("a", types.Shape{Kind: 7})}, true},
		`view 1: nil`: {[]*View{named("a", types.Shape{}), nil}, true},
	} {
		_, err := NewSet(codec, c.views, c.outbox, nil, nil, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if !errors.Is(err, azerr.ErrBadView) && !errors.Is(err, azerr.ErrNil) {
			t.Errorf("%v matches no sentinel", err)
		}
	}
}

// declared is a View that a package has declared.
type declared struct{ view View }

func (d *declared) Name() string           { return d.view.Name }
func (d *declared) Engine() (*View, error) { return &d.view, nil }

func TestAViewWhoseDescriptionPanicsIsRefused(t *testing.T) {
	var none *declared
	_, err := Of(none)
	if !errors.Is(err, azerr.ErrBadView) || !strings.Contains(err.Error(), "its declaration panicked with") {
		t.Error(err)
	}
}

func TestASetFindsItsViewsByName(t *testing.T) {
	s := set[pet](t, &View{Name: "b"}, &View{Name: "a"})
	if v, err := s.View("b"); err != nil || v != s.Views[0] {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := s.View("c"); !errors.Is(err, azerr.ErrBadView) {
		t.Error(err)
	}
	if l := s.Listing(); !l.Has("a") || !l.Has("b") || l.Has("c") || !l.Certain() || l[:2] != "a:" {
		t.Error(l)
	}
}

func TestTheStateOfAViewDecidesWhichEntitiesHaveItsRows(t *testing.T) {
	s := set[pet](t, &View{Name: "full"}, &View{Name: "building"}, &View{Name: "retired"})
	s.building, s.retired = []string{"building"}, []string{"retired", "gone"}
	for listing, want := range map[Listing]struct{ before, after string }{
		"":                               {"full", "full"},
		"building:x":                     {"full building", "full building"},
		"retired:x":                      {"full retired", "full"},
		"building:x,full:x,gone,retired": {"full building retired", "full building"},
	} {
		before, after := s.Before(listing), s.After(listing)
		if got := strings.Join(before.Names()[:len(before.Views)], " "); got != want.before {
			t.Errorf("%q: before %s, want %s", listing, got, want.before)
		}
		names := strings.Fields(want.after)
		if got := strings.Join(after.Names()[:len(after.Views)], " "); got != want.after {
			t.Errorf("%q: after %s, want %s", listing, got, want.after)
		}
		for _, name := range s.Names() {
			if after.Listing().Has(name) != slices.Contains(names, name) {
				t.Errorf("%q: %s", listing, after.Listing())
			}
		}
	}
	if !slices.Equal(s.Names(), []string{"full", "building", "retired", "gone"}) || !s.Gone("gone") || s.Gone("retired") || s.Gone("full") {
		t.Error(s.Names())
	}
}
