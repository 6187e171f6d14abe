package view

import (
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
)

// View is a view of the entities of one table.
type View struct {
	// Name identifies the view. It is stored with the rows.
	Name string

	// Shape is what all rows of the view have in common.
	Shape Shape

	meaning // of the set that the view is one of

	// Rows returns the rows that entity implies, in any order. It must be a pure function
	// of the entity. entity points to a copy, which Rows may change. The result belongs
	// to the [Set], which sorts it.
	Rows func(entity any) ([]Row, error)
}

// New returns the View that describe describes. An error of describe is returned in an
// [*types.ViewError]. describe calls code of the user, often through an interface that
// contains a nil pointer, so a panic of it is returned as an error. Both match
// [azerr.ErrBadView].
func New(describe func() (name string, shape Shape, err error), rows func(entity any) ([]Row, error)) (v *View, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, fmt.Errorf("%w: Name, Shape or Err panicked with a %T", azerr.ErrBadView, p)
		}
	}()
	name, shape, err := describe()
	if err != nil {
		return nil, BadView(name, "%w", err)
	}
	return &View{Name: name, Shape: shape, Rows: rows}, nil
}

// Foreign reports whether the view's rows are outside the primary's table.
func (v *View) Foreign() bool { return v.Shape.Target != nil }

// TargetID is the ID of the view's target, "" for the primary's own table.
func (v *View) TargetID() string {
	if v.Shape.Target == nil {
		return ""
	}
	return v.Shape.Target.ID()
}

// Shape is what all rows of a view have in common.
type Shape struct {
	Kind Kind

	// Target contains the rows. nil is the primary's own table.
	Target Target

	// Remote means that some rows in the primary's own table are in other partitions. A
	// view with a Target needs no Remote.
	Remote bool

	// List edits the lists of a view of kind Members.
	List List

	// Plain means that copies and lists are stored without the properties of the library,
	// so that Owner must recognize them. Only a reservation adds them for a time.
	Plain bool

	// Owner recognizes rows that have no marker: those of a Plain view, and those that
	// another program wrote. May be nil.
	Owner OwnerFunc

	// Adopt selects what becomes of rows that have no marker and that Owner does not
	// recognize.
	Adopt Adopt

	// Version identifies the definition of the view, as far as Rows and List determine it.
	Version string

	// Layout is known of the copies of some views, before any of them is derived.
	Layout Layout
}

// Layout is what all copies of a view have in common. In the zero Layout nothing is known.
type Layout struct {
	// Only is that of the [CopySpec] of each, nil if that is not known.
	Only []string

	// Has reports whether a copy can have the key. nil means that nothing is known of the keys.
	Has func(keys.Key) bool
}

// OwnerFunc reports whether the row at key is one of a view, and which primary a copy
// belongs to; the primary of a list is the zero Key. row returns the properties without
// those of the library, as for [List]. The function must be pure, and safe for concurrent
// use.
type OwnerFunc func(key keys.Key, row func() map[string]any) (primary keys.Key, ok bool)

// Adopt selects what becomes of a row that a view asks for, that has no marker, and that
// differs from what the primary implies. A row that is equal becomes a row of the view.
type Adopt int

const (
	AdoptEqual     Adopt = iota // the row is refused with [*types.DuplicateError]
	AdoptOverwrite              // the row is overwritten; a row that is no list is refused
	AdoptLeave                  // the row stays as it is, and the primary has no row there
)

// Kind is what the rows of a view are.
type Kind int

const (
	Copies  Kind = iota // the primary's properties under another key
	Members             // the primary's membership in a list
	Merges              // properties in the row of another entity
)

var kindNames = [...]string{"copy", "member", "merge"}

// String returns the name of one row of the kind.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "unknown kind"
	}
	return kindNames[k]
}

// Row is a row, or a part of a row, that a primary implies.
type Row struct {
	Key   keys.Key
	Kind  Kind
	Copy  CopySpec  // of Copies
	Merge MergeSpec // of Merges
}

// CopySpec is what a copy contains, and whether several primaries may ask for its key.
type CopySpec struct {
	// Entity is a pointer to the entity to copy, of the primary's type. nil is the primary.
	Entity any

	// Only lists the properties to copy, of those that the entity's type has. nil copies all
	// that the row of the primary has, also those for which the type has no field.
	Only []string

	// Unique means that several primaries may imply the row, of which only one may have
	// it. A unique remote row is reserved before the primary's transaction.
	Unique bool

	// Shared, if its View is not "", names rows of primaries that may imply a Unique row and do not
	// list its view, because another one has the row. A primary that does not imply the row yet may
	// have it only if no such primary exists.
	Shared SharedRows
}

// SharedRows are the rows of a view in a partition.
type SharedRows struct {
	View      string
	Partition string
	Rows      keys.Range
}

// MergeSpec is what a primary adds to the row of another entity.
type MergeSpec struct {
	// Set contains values of properties. They are removed when the primary no longer
	// implies the row. Of several primaries that set properties of one row for one view,
	// only one may.
	Set map[string]any

	// Add contains the primary's part of each counter, int32 or int64. A counter is the
	// sum of the parts of all primaries. It keeps the type that it has; a new counter
	// gets the type of the part.
	Add map[string]any

	// Existing means that the row is not created if it does not exist.
	Existing bool
}

// RowRef identifies a row of a view. Its JSON form is stored in outbox rows and
// messages.
type RowRef struct {
	View      string `json:"v"`
	Partition string `json:"p"`
	Row       string `json:"r"`
}

// Key is the row's key.
func (r RowRef) Key() keys.Key { return keys.Key{Partition: r.Partition, Row: r.Row} }
