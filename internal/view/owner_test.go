package view

import (
	"errors"
	"reflect"
	"testing"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// byContent is the Owner of a copy whose property Who is the row key of its primary.
func byContent(key keys.Key, row func() map[string]any) (keys.Key, bool) {
	who, ok := row()["Who"].(string)
	return keys.Key{Partition: key.Partition, Row: who}, ok
}

func TestAViewClaimsItsRowsAndNoOthers(t *testing.T) {
	at := keys.Key{Partition: "Sales", Row: "email_a"}
	copies := &View{Name: "email", Shape: types.Shape{Owner: byContent, Plain: true}}
	lists := &View{Name: "last", Shape: types.Shape{Kind: types.Members, List: oneMember{}, Owner: byContent}}
	for name, c := range map[string]struct {
		view *View
		key  keys.Key
		row  edm.Properties
		want bool
	}{
		"a marked copy":         {copies, at, edm.Properties{PropOwnerPK: "Sales", PropOwnerRK: "ann", PropView: "email"}, true},
		"a copy of another":     {copies, at, edm.Properties{PropOwnerPK: "Sales", PropOwnerRK: "ann", PropView: "badge", "Who": "ann"}, false},
		"a plain copy":          {copies, at, edm.Properties{"Who": "ann"}, true},
		"a held plain copy":     {copies, at, edm.Properties{"Who": "ann", PropOp: "ID"}, true},
		"a primary":             {copies, at, edm.Properties{"Who": "ann", PropViews: "email:x"}, false},
		"an entity by hand":     {copies, at, edm.Properties{"Name": "ann"}, false},
		"a row of the library":  {copies, keys.Key{Partition: "Sales", Row: ReservedRow + "_x"}, edm.Properties{"Who": "ann"}, false},
		"a marked list":         {lists, at, edm.Properties{PropView: "last"}, true},
		"a list by hand":        {lists, at, edm.Properties{"Who": "ann"}, true},
		"a list of another":     {lists, at, edm.Properties{PropView: "first", "Who": "ann"}, false},
		"a row merged into":     {&View{Name: "boss", Shape: types.Shape{Kind: types.Merges}}, at, edm.Properties{PropView: "boss"}, false},
		"without Owner by hand": {&View{Name: "email"}, at, edm.Properties{"Who": "ann"}, false},
	} {
		owner, ok, err := c.view.Claims(c.key, c.row)
		if ok != c.want || err != nil || ok && owner.View != c.view.Name {
			t.Errorf("%s: %+v, %t, %v", name, owner, ok, err)
		}
		if ok && c.view == copies && owner.Primary != ann {
			t.Errorf("%s: the owner is %v", name, owner.Primary)
		}
	}
	broken := &View{Name: "email", Shape: types.Shape{Owner: func(keys.Key, func() map[string]any) (keys.Key, bool) { panic("x") }}}
	if _, _, err := broken.Claims(at, edm.Properties{}); !errors.Is(err, azerr.ErrBadView) {
		t.Errorf("a panic: %v", err)
	}
}

// Shape.Owner may return a part of a key with false.
func TestARowOfNoViewHasNoOwner(t *testing.T) {
	copies := &View{Name: "email", Shape: types.Shape{Owner: byContent, Plain: true}}
	c := CopyClaim{View: copies, Key: ann, Primary: bob, Body: []byte(`{"PartitionKey":"Sales","RowKey":"ann"}`)}
	_, _, err := c.write(txn.Row{ETag: "e", Body: []byte(`{"PartitionKey":"Sales","RowKey":"ann","Name":"x"}`)})
	var other *OwnedByOther
	if !errors.As(err, &other) || other.Known || other.Owner != (keys.Key{}) {
		t.Errorf("%v: %+v", err, other)
	}
}

func TestSetsRefuseShapesThatAreIncomplete(t *testing.T) {
	codec, err := edm.CodecFor(reflect.TypeFor[map[string]any]())
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]types.Shape{
		"plain without Owner": {Plain: true},
		"plain merges":        {Plain: true, Owner: byContent, Kind: types.Merges},
		"unknown Adopt":       {Adopt: types.AdoptLeave + 1},
	} {
		if _, err := NewSet(codec, []*View{{Name: "v", Shape: s}}, false, nil, nil, nil); !errors.Is(err, azerr.ErrBadView) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A row is adopted only if the library has added nothing to it: another entity of a Store is
// not, even if rows may be overwritten.
func TestRowsOfTheLibraryAreNotAdopted(t *testing.T) {
	for _, property := range []string{PropViews, propMerged, PropState} {
		c := CopyClaim{View: &View{Name: "email", Shape: types.Shape{Adopt: types.AdoptOverwrite}}, Key: ann, Primary: bob, Body: []byte(`{"PartitionKey":"Sales","RowKey":"ann"}`)}
		_, _, err := c.write(txn.Row{ETag: "e", Body: []byte(`{"PartitionKey":"Sales","RowKey":"ann","` + property + `":"x"}`)})
		var other *OwnedByOther
		if !errors.As(err, &other) || other.Known {
			t.Errorf("%s: %v", property, err)
		}
	}
}
