package patterns

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// View defines which rows are derived from a primary entity: copies under other keys,
// memberships in lists, properties inside other entities. A [Store] keeps them up to
// date. Make a View with [ViewOf], or with package secondaryindex, indexentity or
// denormalize: View is no extension point, and may get more methods.
//
// A View may also have a method Shape() Shape, which [NewStore] calls once. A View
// without it makes copies in the primary's own table. A Store calls the methods of a View
// concurrently, so they must not change anything.
//
// A view is declared without an error. If the declaration is invalid, a method Err() error
// returns the reason, and [NewStore] returns it in a [*ViewError], which matches [ErrBadView]
// too. So a view that needs no client can be a variable of a package:
//
//	var byEmail = secondaryindex.Intra("email", func(p *Person) (string, bool) { return p.Email, p.Email != "" }, nil)
type View[T any] interface {
	// Name identifies the view: 1 to 64 letters, digits, '-', '_' and '.'. It is stored with
	// the rows. While there are any, neither the name nor the rows that the view derives
	// from an entity may change: a changed definition needs a new name. Two stores whose
	// views have rows in the same table, or blob container, must not use the same name.
	//
	// If the rows are in a table of their own ([Shape.Target]), that table has a row ~azp_owner_<name> in
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

	// Rows returns the rows that e implies, in any order; none is valid. It must be a pure
	// function of *e, and must not change or keep e: the Store calls it often, for old and
	// new versions, and in other processes. The Store refuses a key that is the primary's
	// own, two rows with the same key, and a row key that begins with "~azp", with an error
	// that names the view. It reports a panic as such an error too. Sometimes, and always at
	// first, the Store calls it twice, and refuses results that differ.
	Rows(e *T) ([]DerivedRow, error)
}

// Shape is what all rows of a view have in common. The zero Shape is: copies in the
// primary's own table.
type Shape struct {
	Kind view.Kind // [Copies], [Members] or [Merges]

	// Target contains the rows. nil is the primary's own table: rows in the primary's own
	// partition are then local, that is, they change in one transaction with the primary.
	// All other rows are remote: they are updated through the outbox.
	//
	// Make it with [TableTarget]; pattern packages have others. No other type is accepted.
	Target view.Target

	// Remote means that the view has rows outside the primary's partition, so that
	// [NewStore] can require an outbox. A view with a Target needs no Remote. Without it
	// the first operation that needs an outbox fails.
	Remote bool

	// List edits the lists of a view of kind Members.
	List List

	// Plain means that copies and lists are stored without the properties of the Store, in
	// the layout of programs that were written by hand. Owner is then required. While a
	// unique copy outside the primary's partition is reserved, it has those properties.
	Plain bool

	// Owner recognizes the rows of the view that have no azp_view: it returns the primary
	// of the copy at key, or the zero Key for a list. ok is false if the row is not one of
	// the view. Call row, which returns the properties as for [List], only if the key does
	// not decide that. Owner must be a pure function, and safe for concurrent use.
	//
	// Without Owner, Adopt alone decides about rows that have no azp_view.
	Owner func(key keys.Key, row func() map[string]any) (primary keys.Key, ok bool)

	// Adopt selects what becomes of rows that another program has stored at the keys of
	// the view.
	Adopt Adopt

	// Version identifies the definition of the view. Change it, together with the name, if
	// Rows or List change, so that a program with the old definition and one with the new
	// definition under the same name cannot change the same entity: see
	// [StoreOptions.Views]. Kind and the ID of Target are part of the definition anyway.
	Version string
}

// Adopt selects what becomes of a row that has no property of the Store and is stored at a
// key of a view, usually because a program that was written by hand has stored it.
//
// A copy that is the same as what the primary implies, in its old or its new version, is
// adopted in any case: it becomes a row of the view. Package reindex describes what is the same.
// A row that has properties, but none that is compared, is not adopted: nothing shows that it is a copy.
// If the old version does not imply the row, that holds only for a remote copy that is not
// unique: any other could be that of another primary with the same properties. So is a list that [Shape.Owner] recognizes; its members stay.
// Adopt selects what becomes of a copy that differs. A row that is no list never becomes one.
type Adopt = view.Adopt

const (
	// AdoptEqual refuses a row that differs, with [*DuplicateError].
	AdoptEqual = view.AdoptEqual

	// AdoptOverwrite overwrites a copy that differs. It loses what is stored there, even if
	// that is a row of another primary or no copy at all.
	AdoptOverwrite = view.AdoptOverwrite

	// AdoptLeave does not touch a row that differs, and the operation succeeds. The primary
	// is then missing from the index, whose readers skip the row. A local copy is read
	// before it is changed, which is one request more for each.
	AdoptLeave = view.AdoptLeave
)

// TableTarget returns another table, which may be in another account, for [Shape.Target]. id
// identifies it; it must be the same in every process, and not "". It is safe for concurrent use.
func TableTarget(id string, client *aztables.Client) view.Target {
	return view.NewTable(id, wire.NewClient(client))
}

// What a derived row is, for [Shape].Kind.
const (
	Copies  = view.Copies  // the primary's properties under another key: a secondary index
	Members = view.Members // membership in a list: an index entity
	Merges  = view.Merges  // properties inside another entity: denormalisation
)

// ViewOf returns a View whose rows the function rows returns; see [View.Rows] for its
// contract. If rows is nil, [NewStore] returns an error that matches [ErrNil].
func ViewOf[T any](name string, shape Shape, rows func(*T) ([]DerivedRow, error)) View[T] {
	return &viewFunc[T]{name, shape, rows}
}

type viewFunc[T any] struct {
	name  string
	shape Shape
	rows  func(*T) ([]DerivedRow, error)
}

func (v *viewFunc[T]) Name() string                    { return v.name }
func (v *viewFunc[T]) Shape() Shape                    { return v.shape }
func (v *viewFunc[T]) Rows(e *T) ([]DerivedRow, error) { return v.rows(e) }

func (v *viewFunc[T]) Err() error {
	if v.rows == nil {
		return fmt.Errorf("rows: %w", ErrNil)
	}
	return nil
}

// DerivedRow is one row, or one part of a row, that a primary implies. Make it with
// [CopyRow], [MemberRow] or [MergeRow], as the view's [Shape] requires. A DerivedRow is
// an immutable value and safe for concurrent use.
type DerivedRow struct{ row view.Row }

// Key is the key of the row.
func (d DerivedRow) Key() keys.Key { return d.row.Key }

// Kind is what the row is.
func (d DerivedRow) Kind() view.Kind { return d.row.Kind }

// CopySpec is how much of the primary a copy contains, and whether its key is unique.
type CopySpec struct {
	// Entity is what is copied, a pointer to the primary's type. nil means the primary
	// itself. A field whose value differs from the primary's has nothing of the primary's row
	// but the type of its property: no text that another program has stored, and no member of
	// JSON that T lacks. Unknown properties are copied unless Only is set.
	Entity any

	// Only names the properties to copy, each of which T must have: an unknown name is
	// refused. nil means all that the row of the primary has: also those that T has no field for,
	// but not those that other views have set there. A copy has the types and texts that its
	// primary has.
	//
	// A counter that views add to the primary's row changes without its copies. Name the
	// other properties in Only if there is one.
	Only []string

	// Unique means that several primaries may ask for the key and only one may have it:
	// the others fail with [*DuplicateError]. In the primary's partition the transaction
	// ensures that in any case. Elsewhere the Store reserves the row before the
	// transaction. A key that contains the primary's own key needs no Unique, and saves
	// the reservation.
	Unique bool

	// Shared, for a Unique copy of a view that is added to a table with duplicates, names rows of
	// another view, one for each entity that may ask for the key. While its View is not "", the
	// following holds. An entity that asked for the key before, that another entity has, and that
	// does not list the view, can be changed, and gets no copy. An entity that did not ask for the
	// key is refused with [*DuplicateError] also if an entity without a copy asks for it. That check
	// takes one request for each copy that is new, and one for each entity that Shared names. There is
	// none if the value is new, and [Store.Explain] counts none.
	Shared SharedRows
}

// SharedRows are the rows of a view in a partition; see [CopySpec.Shared]. A SharedRows may be
// read concurrently.
type SharedRows struct {
	View      string
	Partition string
	Rows      keys.Range
}

// CopyRow is a copy of the primary at key.
//
// In addition to the copied properties the row has azp_pk and azp_rk, the primary's key,
// and azp_view, the view's name, unless the view is [Shape.Plain]. A row at that key with
// those of another primary is never overwritten or deleted: [*DuplicateError]. [Adopt]
// selects what becomes of a row without them. If the copy is remote and
// not [CopySpec.Unique], this is found only after the primary was changed: the operation
// succeeds, [StoreOptions.OnPending] and then the worker receive the error, and the copy
// is missing until the other row is deleted. In the primary's own partition an existing
// copy is replaced and deleted without reading it, to save the request: there the rule
// holds for all clients that write through a Store.
func CopyRow(key keys.Key, spec CopySpec) DerivedRow {
	return DerivedRow{view.Row{Key: key, Kind: view.Copies, Copy: view.CopySpec{
		Entity: spec.Entity, Only: spec.Only, Unique: spec.Unique, Shared: view.SharedRows(spec.Shared),
	}}}
}

// MemberRow makes the primary a member of the list in the row at key. The row belongs to
// the view; it has azp_view, and is deleted with its last member.
func MemberRow(key keys.Key) DerivedRow {
	return DerivedRow{view.Row{Key: key, Kind: view.Members}}
}

// MergeSpec is what the primary adds to another entity's row.
type MergeSpec struct {
	// Set contains the values of properties: string, bool, int32, int64, float64,
	// time.Time, []byte or [16]byte. They are removed when the view no longer names the
	// row. Of several primaries that ask for the same row in one view, the first one has
	// it; the others fail with [*DuplicateError].
	Set map[string]any

	// Add contains this primary's part of counters: int32 or int64. A counter is the sum
	// over all primaries. It keeps the property type that it has; a new one gets the type
	// of the part.
	//
	// In another partition or table the parts are stored next to the counter, one mark for
	// each primary. A counter that is missing from its row, because it is new or was
	// deleted, is added up from the marks by the next operation that concerns it, with two
	// more requests, and one for each 1000 of them. A counter in the primary's partition has
	// no marks: there it starts from zero.
	Add map[string]any

	// Existing means that the row must exist. If it does not, an operation with a local
	// row fails with [ErrNotFound], and a remote row is not created. Otherwise a missing
	// row is created with these properties alone.
	Existing bool
}

// MergeRow merges properties into the row at key, which belongs to another entity: its
// other properties stay. The row gets a property azp_merged that records which primary
// set which properties. A row that does not exist is created with a property azp_state, "part",
// which the Store removes when it writes an entity there: such a row is no result of
// [Store.Query].
func MergeRow(key keys.Key, spec MergeSpec) DerivedRow {
	return DerivedRow{view.Row{Key: key, Kind: view.Merges, Merge: view.MergeSpec(spec)}}
}

// List is how a row stores the members of a list. Implementations are pure functions,
// and safe for concurrent use.
//
// Package reindex verifies lists whose List also has the method
// Members(row map[string]any, key keys.Key) ([]keys.Key, error), which returns the members of
// the list in a row that is stored at key.
//
// A row is a map of its properties by name, with values of type string, bool, int32,
// int64, float64, time.Time, []byte or [16]byte, without the keys, Timestamp, and the
// properties of the Store itself. A missing row is an empty map.
type List interface {
	// Add adds member, a primary's key, to the list. changed is false if it was a member
	// already. It edits row in place. At a limit of the row it fails with an error that
	// matches [ErrTooLarge] and names the remedy.
	Add(row map[string]any, member keys.Key) (changed bool, err error)

	// Remove removes member from the list. changed is false if it was not a member.
	Remove(row map[string]any, member keys.Key) (changed bool, err error)

	// Len is the number of members. A row without any is deleted.
	Len(row map[string]any) (int, error)
}

// RowRef identifies a row of a view. A RowRef may be read concurrently.
type RowRef struct {
	View      string `json:"v"`
	Partition string `json:"p"`
	Row       string `json:"r"`
}

// Key is the row's key.
func (r RowRef) Key() keys.Key { return keys.Key{Partition: r.Partition, Row: r.Row} }

// engineView returns v as the engine uses it.
func engineView[T any](v View[T]) (*view.View, error) {
	return view.New(func() (name string, shape view.Shape, err error) {
		if declared, ok := v.(interface{ Err() error }); ok {
			err = declared.Err()
		}
		if err != nil {
			return v.Name(), shape, err
		}
		var s Shape
		if shaped, ok := v.(interface{ Shape() Shape }); ok {
			s = shaped.Shape()
		}
		var layout view.Layout
		if l, ok := v.(interface{ Layout() view.Layout }); ok {
			layout = l.Layout()
		}
		return v.Name(), view.Shape{
			Kind: s.Kind, Target: s.Target, Remote: s.Remote, List: s.List,
			Plain: s.Plain, Owner: s.Owner, Adopt: s.Adopt, Version: s.Version,
			Layout: layout,
		}, nil
	}, func(e any) ([]view.Row, error) {
		rows, err := v.Rows(e.(*T))
		if err != nil {
			return nil, err
		}
		out := make([]view.Row, len(rows))
		for i := range rows {
			out[i] = rows[i].row
			if copied := out[i].Copy.Entity; copied != nil {
				if e, ok := copied.(*T); !ok || e == nil {
					return nil, fmt.Errorf("%w: CopySpec.Entity is no %T", ErrBadView, e)
				}
			}
		}
		return out, nil
	})
}
