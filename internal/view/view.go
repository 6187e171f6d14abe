package view

import (
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// View is a view of the entities of one table.
type View struct {
	// Name identifies the view. It is stored with the rows.
	Name string

	// Shape is what all rows of the view have in common.
	Shape types.Shape

	Layout   Layout
	Expiring *Expiring // of entities that expire; else nil
	Journal  *Journal  // of a view that records changes; else nil
	meaning            // of the set that the view is one of

	// Rows returns the rows that entity implies, in any order. It must be a pure function
	// of the entity. entity points to a copy, which Rows may change. The result belongs
	// to the [Set], which sorts it.
	Rows func(entity any) ([]types.DerivedRow, error)
}

// Of returns the View that a package of a pattern has declared. The error of a declaration is
// returned in an [*types.ViewError]. Declared is often an interface that contains a nil pointer, so
// a panic is returned as an error. Both match [azerr.ErrBadView].
func Of(declared interface {
	Name() string
	Engine() (*View, error)
}) (v *View, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, fmt.Errorf("%w: its declaration panicked with a %T", azerr.ErrBadView, p)
		}
	}()
	if v, err = declared.Engine(); err != nil {
		return nil, BadView(declared.Name(), "%w", err)
	}
	return v, nil
}

// Where returns what contains the view's rows, if that is not the primary's table: a table, or
// something else. Both are nil if the target is neither.
func (v *View) Where() (*RemoteTable, Reconciler) {
	t, _ := v.Shape.Target.(*RemoteTable)
	other, _ := v.Shape.Target.(Reconciler)
	return t, other
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

// Layout is what all copies of a view have in common. In the zero Layout nothing is known.
type Layout struct {
	// Only is that of the [types.CopySpec] of each, nil if that is not known.
	Only []string

	// Has reports whether a copy can have the key. nil means that nothing is known of the keys.
	Has func(keys.Key) bool
}
