package types

import "github.com/azpatterns/azpatterns/keys"

// DerivedRow is one row, or one part of a row, that a primary implies. Make it with
// patterns.CopyRow, patterns.MemberRow or patterns.MergeRow, as the view's [Shape] requires. A
// DerivedRow may be read concurrently.
type DerivedRow struct {
	Key   keys.Key  // of the row
	Kind  Kind      // what the row is
	Copy  CopySpec  // of [Copies]
	Merge MergeSpec // of [Merges]
}

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
	// none if the value is new, and patterns.Store.Explain counts none.
	Shared SharedRows
}

// SharedRows are the rows of a view in a partition; see [CopySpec.Shared]. A SharedRows may be
// read concurrently.
type SharedRows struct {
	View      string
	Partition string
	Rows      keys.Range
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
	// row fails with patterns.ErrNotFound, and a remote row is not created. Otherwise a missing
	// row is created with these properties alone.
	Existing bool
}
