package patterns

import (
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// View defines which rows are derived from a primary entity: copies under other keys,
// memberships in lists, properties inside other entities. A [Store] keeps them up to
// date. Make a View with [ViewOf], or with package secondaryindex, indexentity or
// denormalize. View is no extension point: only this module can implement it. A View is safe for
// concurrent use.
//
// A view is declared without an error. If the declaration is invalid, [NewStore] returns the
// reason in a [*ViewError], which matches [ErrBadView] too. So a view that needs no client can be
// a variable of a package:
//
//	var byEmail = secondaryindex.Intra("email", func(p *Person) (string, bool) { return p.Email, p.Email != "" }, nil)
type View[T any] interface {
	// Name identifies the view: 1 to 64 letters, digits, '-', '_' and '.'. It is stored with
	// the rows. While there are any, neither the name nor the rows that the view derives
	// from an entity may change: a changed definition needs a new name. Two stores whose
	// views have rows in the same table, or blob container, must not use the same name.
	//
	// If the rows are in a table of their own ([Shape].Target), that table has a row ~azp_owner_<name> in
	// the partition ~azp with the name of the entities' table. [Store.Create], [Store.Handle], which is
	// what a worker calls, [Store.Sweep] and package reindex read it, until a Store knows that it is its own.
	// Create, Handle, and a Sweep that is no dry run, insert it if it does not exist. All fail with
	// [ErrBadView], and change nothing, if it names another table than theirs; the account may
	// be another one. Create has then created the tables.
	//
	// Reads and changes of entities do not read it, because that would take a request more: the changes of a
	// program that is refused elsewhere store rows of the view. So call Create when a program starts, and do
	// not go on if it fails. If the entities move to a table with another name, delete the row after the last
	// program that uses the former table has stopped, and call Create. Stores in one table, and
	// views in blobs, are not distinguished.
	Name() string

	// Engine is for the Store: programs cannot use what it returns.
	Engine() (*view.View, error)
}

// What defines a view that [ViewOf] makes, and the rows of any view. Package types documents the
// fields.
type (
	// Shape is what all rows of a view have in common. The zero Shape is: copies in the
	// primary's own table.
	Shape = types.Shape

	// Kind is what the rows of a view are: [Copies], [Members] or [Merges].
	Kind = types.Kind

	// Target contains the rows of a view that are not in the primary's own table; see [TableTarget].
	Target = types.Target

	// Adopt selects what becomes of a row that has no property of the Store and is stored at a
	// key of a view, usually because a program that was written by hand has stored it.
	Adopt = types.Adopt

	// DerivedRow is one row, or one part of a row, that a primary implies. Make it with
	// [CopyRow], [MemberRow] or [MergeRow], as the view's [Shape] requires.
	DerivedRow = types.DerivedRow

	// CopySpec is how much of the primary a copy contains, and whether its key is unique.
	CopySpec = types.CopySpec

	// SharedRows are the rows of a view in a partition; see Shared of [CopySpec].
	SharedRows = types.SharedRows

	// MergeSpec is what the primary adds to another entity's row.
	MergeSpec = types.MergeSpec

	// List is how a row stores the members of a list.
	List = types.List

	// RowRef identifies a row of a view.
	RowRef = types.RowRef
)

// What a derived row is, for Kind of [Shape].
const (
	Copies  = types.Copies  // the primary's properties under another key: a secondary index
	Members = types.Members // membership in a list: an index entity
	Lookups = types.Lookups // the primary's key only, outside of its transaction: of package secondaryindex
	Merges  = types.Merges  // properties inside another entity: denormalisation
)

// What becomes of a row that differs from the copy that a primary implies; see [Adopt].
const (
	AdoptEqual     = types.AdoptEqual     // it is refused with [*DuplicateError]
	AdoptOverwrite = types.AdoptOverwrite // it is overwritten
	AdoptLeave     = types.AdoptLeave     // it stays, and the primary is missing from the index
)

// TableTarget returns another table, which may be in another account, for Target of [Shape]. id
// identifies it; it must be the same in every process, and not "". It is safe for concurrent use.
func TableTarget(id string, client *aztables.Client) Target {
	return view.NewTable(id, wire.NewClient(client))
}

// ViewOf returns a View whose rows the function rows returns. If rows is nil, [NewStore] returns an
// error that matches [ErrNil]. A Store calls rows concurrently, so it must not change anything.
//
// rows returns the rows that an entity implies, in any order; none is valid. It must be a pure
// function of the entity, and must not change or keep it: the Store calls it often, for old and
// new versions, and in other processes. The Store refuses a key that is the primary's
// own, two rows with the same key, and a row key that begins with "~azp", with an error
// that names the view. It reports a panic as such an error too. Sometimes, and always at
// first, the Store calls it twice, and refuses results that differ.
func ViewOf[T any](name string, shape Shape, rows func(*T) ([]DerivedRow, error)) View[T] {
	return &viewFunc[T]{name, shape, rows}
}

type viewFunc[T any] struct {
	name  string
	shape Shape
	rows  func(*T) ([]DerivedRow, error)
}

func (v *viewFunc[T]) Name() string { return v.name }

func (v *viewFunc[T]) Engine() (*view.View, error) {
	if v.rows == nil {
		return nil, fmt.Errorf("rows: %w", ErrNil)
	}
	if v.shape.Kind == Lookups {
		return nil, azerr.Errorf("Shape.Kind: Lookups are made by package secondaryindex")
	}
	return &view.View{Name: v.name, Shape: v.shape, Rows: func(e any) ([]DerivedRow, error) {
		rows, err := v.rows(e.(*T))
		return slices.Clone(rows), err // the engine sorts them
	}}, nil
}

// CopyRow is a copy of the primary at key.
//
// In addition to the copied properties the row has azp_pk and azp_rk, the primary's key,
// and azp_view, the view's name, unless the view is Plain in its [Shape]. A row at that key with
// those of another primary is never overwritten or deleted: [*DuplicateError]. [Adopt]
// selects what becomes of a row without them. If the copy is remote and
// not Unique, this is found only after the primary was changed: the operation
// succeeds, [StoreOptions.OnPending] and then the worker receive the error, and the copy
// is missing until the other row is deleted. In the primary's own partition an existing
// copy is replaced and deleted without reading it, to save the request: there the rule
// holds for all clients that write through a Store.
func CopyRow(key keys.Key, spec CopySpec) DerivedRow {
	return DerivedRow{Key: key, Kind: Copies, Copy: spec}
}

// MemberRow makes the primary a member of the list in the row at key. The row belongs to
// the view; it has azp_view, and is deleted with its last member.
func MemberRow(key keys.Key) DerivedRow { return DerivedRow{Key: key, Kind: Members} }

// MergeRow merges properties into the row at key, which belongs to another entity: its
// other properties stay. The row gets a property azp_merged that records which primary
// set which properties. A row that does not exist is created with a property azp_state, "part",
// which the Store removes when it writes an entity there: such a row is no result of
// [Store.Query].
func MergeRow(key keys.Key, spec MergeSpec) DerivedRow {
	return DerivedRow{Key: key, Kind: Merges, Merge: spec}
}
