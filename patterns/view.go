package patterns

import "github.com/azpatterns/azpatterns/keys"

// View says which rows follow from a primary entity: copies at other keys, places
// in lists, properties inside other entities. A [Store] keeps them.
//
// A View that is not [Shaped] makes copies in the primary's own table.
type View[T any] interface {
	// Name tells the view apart from the store's others: 1 to 64 letters, digits,
	// '-', '_' and '.'. It is stored with the rows and must not change while there
	// are any.
	Name() string

	// Rows gives the rows that follow from e, in any order; none is fine. It must be
	// a pure function of *e, and must not change or keep e: the Store calls it
	// often, for old and new versions, and in other processes. The Store refuses a
	// result that differs between two calls, a key that is the primary's own, a key
	// that comes twice, and a row key that begins with "~azp", with an error that
	// names the view. A panic is reported as such an error too.
	Rows(e *T) ([]DerivedRow, error)
}

// Shaped is a View that tells what all its rows have in common. [NewStore] asks
// once.
type Shaped interface{ Shape() Shape }

// Shape is what all rows of a view have in common. The zero Shape is: copies in
// the primary's own table.
type Shape struct {
	Kind RowKind

	// Target is where the rows stand. nil is the primary's own table. There, rows
	// in the primary's own partition are local: they change in one transaction with
	// the primary. All other rows are remote: they follow through the outbox.
	Target Target

	// Remote says that the view has rows outside the primary's partition, so that
	// [NewStore] can ask for an outbox. It is implied by Target. Without it the
	// first operation that needs an outbox fails.
	Remote bool

	// List is how the view's rows keep their members. Members only.
	List List
}

// RowKind is what a derived row is.
type RowKind int

const (
	Copies  RowKind = iota // the primary's properties at another key: a secondary index
	Members                // a place in a list: an index entity
	Merges                 // properties inside another entity: denormalisation
)

var kindNames = [...]string{"copy", "member", "merge"}

func (k RowKind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "unknown kind"
	}
	return kindNames[k]
}

// NewView makes a View of a function; see [View] for what is asked of it.
func NewView[T any](name string, shape Shape, rows func(*T) ([]DerivedRow, error)) View[T] {
	return &view[T]{name, shape, rows}
}

type view[T any] struct {
	name  string
	shape Shape
	rows  func(*T) ([]DerivedRow, error)
}

func (v *view[T]) Name() string                    { return v.name }
func (v *view[T]) Shape() Shape                    { return v.shape }
func (v *view[T]) Rows(e *T) ([]DerivedRow, error) { return v.rows(e) }

// DerivedRow is one row, or one part of a row, that follows from a primary. Make it
// with [CopyRow], [MemberRow] or [MergeRow], as the view's [Shape] says.
type DerivedRow struct {
	key   keys.Key
	kind  RowKind
	copy  Copy
	merge Merged
}

// Key is where the row stands.
func (d DerivedRow) Key() keys.Key { return d.key }

// Kind is what the row is.
func (d DerivedRow) Kind() RowKind { return d.kind }

// Copy is how much of the primary a copy holds, and how its key is meant.
type Copy struct {
	// Only names the properties to copy. nil means all that T has. Properties that T
	// has no field for are not copied.
	Only []string

	// Unique says that several primaries may ask for the key and only one may have
	// it: the others fail with [*DuplicateError]. In the primary's partition the
	// transaction sees to that anyway. Elsewhere the Store reserves the row before
	// the transaction. A key that holds the primary's own key needs no Unique and
	// saves the reservation.
	Unique bool
}

// CopyRow is a copy of the primary at key.
//
// The row has, beside the properties copied, azp_pk and azp_rk, the primary's key,
// and azp_view, the view's name. A row at that key that has not, or that names
// another primary, is never overwritten nor deleted: [*DuplicateError]. Where the copy
// is elsewhere and not [Copy.Unique], that comes to light when the change of the primary
// has been carried out already: the operation succeeds, [StoreOptions.OnPending] and
// then the worker get the error, and the copy stays missing until the other row is gone.
// In the primary's own partition a copy that stands is replaced and deleted unread, to
// save the request: there this holds against all who write through a Store.
func CopyRow(key keys.Key, c Copy) DerivedRow { return DerivedRow{key: key, kind: Copies, copy: c} }

// MemberRow makes the primary a member of the list in the row at key. The row is
// the view's own; it has azp_view, and is deleted with its last member.
func MemberRow(key keys.Key) DerivedRow { return DerivedRow{key: key, kind: Members} }

// Merged is what the primary adds to another entity's row.
type Merged struct {
	// Set holds the values of properties: string, bool, int32, int64, float64,
	// time.Time, []byte or [16]byte. They are removed when the view does not name
	// the row any more. Of several primaries that ask for the same row in one view,
	// the first has it; the others fail with [*DuplicateError].
	Set map[string]any

	// Add holds this primary's part in counters: int32 or int64. The counter is the
	// sum over all primaries. It keeps the property type it has; a new one gets the
	// type of the part.
	//
	// In another partition or table the parts are kept beside the counter, one mark for
	// each primary. A counter that is not in its row, because it is new or because
	// somebody has deleted it, is added up from the marks by the next operation that
	// concerns it, in one request more for each 1000 of them. A counter in the
	// primary's partition has no marks: there it starts from zero.
	Add map[string]any

	// Existing says that the row must be there already. If it is not, an operation
	// with a local row fails with [ErrNotFound], and a remote row is left missing.
	// Otherwise a missing row is created with these properties alone.
	Existing bool
}

// MergeRow merges properties into the row at key, which is another entity's: its
// other properties stay. The row gets a property azp_merged that says who set what.
func MergeRow(key keys.Key, m Merged) DerivedRow {
	return DerivedRow{key: key, kind: Merges, merge: m}
}

// List is how a row keeps the members of a list. Implementations are pure, and
// safe for concurrent use.
//
// A row is a map of its properties by name, with values of type string, bool,
// int32, int64, float64, time.Time, []byte or [16]byte; keys, Timestamp and what the
// Store itself keeps there are not in it. A missing row is an empty map.
type List interface {
	// Add puts member, a primary's key, into the list. changed is false if it was
	// there already. It edits row in place. At a limit of the row it fails with an
	// error that matches [ErrTooLarge] and says what to do.
	Add(row map[string]any, member keys.Key) (changed bool, err error)

	// Remove takes member out of the list. changed is false if it was not there.
	Remove(row map[string]any, member keys.Key) (changed bool, err error)

	// Len is the number of members. A row without any is deleted.
	Len(row map[string]any) (int, error)
}
