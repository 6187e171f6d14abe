package types

// Adopt selects what becomes of a row that has no property of the Store and is stored at a
// key of a view, usually because a program that was written by hand has stored it.
//
// A copy that is the same as what the primary implies, in its old or its new version, is
// adopted in any case: it becomes a row of the view. Package reindex describes what is the same.
// A row that has properties, but none that is compared, is not adopted: nothing shows that it is a copy.
// If the old version does not imply the row, that holds only for a remote copy that is not
// unique: any other could be that of another primary with the same properties. So is a list that
// Owner of [Shape] recognizes; its members stay.
// Adopt selects what becomes of a copy that differs. A row that is no list never becomes one.
type Adopt int

const (
	// AdoptEqual refuses a row that differs, with [*DuplicateError].
	AdoptEqual Adopt = iota

	// AdoptOverwrite overwrites a copy that differs. It loses what is stored there, even if
	// that is a row of another primary or no copy at all.
	AdoptOverwrite

	// AdoptLeave does not touch a row that differs, and the operation succeeds. The primary
	// is then missing from the index, whose readers skip the row. A local copy is read
	// before it is changed, which is one request more for each.
	AdoptLeave
)
