package types

import "github.com/azpatterns/azpatterns/keys"

// Shape is what all rows of a view have in common. The zero Shape is: copies in the
// primary's own table.
type Shape struct {
	Kind Kind // [Copies], [Members] or [Merges]

	// Target contains the rows. nil is the primary's own table: rows in the primary's own
	// partition are then local, that is, they change in one transaction with the primary.
	// All other rows are remote: they are updated through the outbox.
	//
	// Make it with patterns.TableTarget; pattern packages have others. No other type is accepted.
	Target Target

	// Remote means that the view has rows outside the primary's partition, so that
	// patterns.NewStore can require an outbox. A view with a Target needs no Remote. Without it
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
	// patterns.StoreOptions.Views. Kind and the ID of Target are part of the definition anyway.
	Version string
}
