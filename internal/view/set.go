package view

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Set is the views of one table. It is immutable, and safe for concurrent use.
type Set struct {
	Views []*View // must not be changed

	// KeyOf returns the key of an entity, or fails if it has none. It is nil if every entity
	// has the key that it is stored under. Set it before the first use of the Set.
	KeyOf func(entity any) (keys.Key, error)

	codec      *edm.Codec
	copyEntity CopyEntity
	fields     map[string]bool // the properties that a copy may name; nil: any
	building   []string
	retired    []string
	listing    Listing
	derived    *atomic.Uint64 // calls of Derive
}

// CopyEntity assigns *src to *dst and returns dst. Both point to entities of the
// table's type. A nil dst is replaced by a new entity.
type CopyEntity func(dst, src any) any

// NewSet returns the Set of the views of a table whose entities codec encodes. outbox
// reports whether the table has an outbox.
//
// building and retired are names of views that not every running program has: see
// [Set.Before] and [Set.After]. A building view must be one of views; a retired view need not.
//
// NewSet fails if a view has no valid name, the name of another view, an invalid shape,
// or rows outside the primary's partition while there is no outbox, or if a building view is
// missing or also retired. The error is an [*types.ViewError] and matches [azerr.ErrBadView].
func NewSet(codec *edm.Codec, views []*View, outbox bool, copyEntity CopyEntity, building, retired []string) (*Set, error) {
	s := &Set{Views: slices.Clone(views), codec: codec, copyEntity: copyEntity, building: building, retired: retired, derived: new(atomic.Uint64)}
	if !codec.Open() {
		s.fields = map[string]bool{}
		for _, f := range codec.Fields() {
			s.fields[f.Name] = true
		}
	}
	var names []string
	for i, v := range views {
		if v == nil {
			return nil, fmt.Errorf("view %d: %w", i, azerr.ErrNil)
		}
		if err := v.check(names, outbox); err != nil {
			return nil, err
		}
		names = append(names, v.Name)
		if v.Journal != nil && s.Journal() != v {
			return nil, BadView(v.Name, "the store has another journal")
		}
	}
	for _, name := range building {
		switch {
		case !slices.Contains(names, name):
			return nil, BadView(name, "it is building, but not a view of the store")
		case slices.Contains(retired, name):
			return nil, BadView(name, "it is building and retired")
		}
	}
	s.listing = listingOf(s.Views)
	return s.meaning(meaning{codec: codec}), nil
}

// Exact returns s with views that compare types and spellings too, and all properties of every
// copy, whether other programs have added them or not.
func (s *Set) Exact() *Set { return s.meaning(meaning{codec: s.codec, exact: true}) }

// meaning returns s with views that compare rows so.
func (s *Set) meaning(m meaning) *Set {
	same := *s
	same.Views = make([]*View, len(s.Views))
	for i, v := range s.Views {
		own := *v
		own.meaning, same.Views[i] = m, &own
	}
	return &same
}

// check checks v itself; names are those of the views before it.
func (v *View) check(names []string, outbox bool) error {
	table, other := v.Where()
	switch {
	case !isName(v.Name):
		return BadView(v.Name, "a name has 1 to 64 letters, digits, '-', '_' and '.'")
	case slices.Contains(names, v.Name):
		return BadView(v.Name, "two views have this name")
	case v.Shape.Kind < types.Copies || v.Shape.Kind > types.Journals:
		return BadView(v.Name, "its shape has an unknown kind")
	case v.Shape.Kind == types.Members && v.Shape.List == nil && (table != nil || !v.Foreign()):
		return BadView(v.Name, "its shape has no List")
	case v.Shape.Plain && v.Shape.Owner == nil:
		return BadView(v.Name, "its shape is Plain and has no Owner")
	case v.Shape.Plain && v.Shape.Kind == types.Merges:
		return BadView(v.Name, "its shape is Plain, which merges cannot be")
	case v.Shape.Adopt < types.AdoptEqual || v.Shape.Adopt > types.AdoptLeave:
		return BadView(v.Name, "its shape has an unknown Adopt")
	case (v.Foreign() || v.Shape.Remote) && v.Shape.Kind != types.Lookups && !outbox:
		return NoOutbox(v.Name)
	case v.Foreign() && table == nil && other == nil:
		return BadView(v.Name, "its target was not made by TableTarget or a pattern package")
	case v.Foreign() && v.TargetID() == "":
		return BadView(v.Name, "its target has no ID")
	}
	return nil
}

func isName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	})
}

// View returns the view of the given name.
func (s *Set) View(name string) (*View, error) {
	for _, v := range s.Views {
		if v.Name == name {
			return v, nil
		}
	}
	return nil, BadView(name, "the store has no view of this name")
}
