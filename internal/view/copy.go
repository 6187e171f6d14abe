package view

import (
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// CopyClaim is what a primary wants of the row of a copy.
type CopyClaim struct {
	View    string
	Key     keys.Key // of the row
	Primary keys.Key

	// Op is the operation that makes the claim. Its own mark on the row is not in its way.
	Op string

	// Body is the row wanted, nil to delete it.
	Body []byte

	// Over, if not nil, is another primary, which no longer implies the row: its row may be
	// overwritten.
	Over *keys.Key

	// Decided is an operation of Primary of which it is certain that it was applied, or
	// never will be: a reservation may replace its mark.
	Decided string
}

// write returns the write that makes the row, which was read as found, what c wants.
// The write is conditional on found. needed is false if no write is necessary. A row
// that belongs to another primary is an [*OwnedByOther] if c wants the row, and
// is left alone otherwise.
func (c *CopyClaim) write(found txn.Row) (w wire.Write, needed bool, err error) {
	if found.Absent() {
		return txn.Over(c.Key, found, c.Body), c.Body != nil, nil
	}
	row, err := found.Content()
	if err != nil {
		return w, false, err
	}
	owner, known := ownerOf(row)
	own := known && owner.Primary == c.Primary
	op := row.Text(PropOp)
	heldByOther := op != "" && op != c.Op // then that operation removes its mark, or the row
	if c.Body == nil {
		return txn.Delete(c.Key, found.ETag), own && owner.View == c.View && !heldByOther, nil
	}
	if !own && (c.Over == nil || !known || owner.Primary != *c.Over) {
		return w, false, c.ownedBy(owner, known, row)
	}
	body := c.Body
	if own && heldByOther {
		if body, err = withMark(op, c.Key, body); err != nil {
			return w, false, err
		}
	}
	same, err := edm.EqualContent(body, found.Body)
	return txn.Over(c.Key, found, body), !same, err
}

// withMark returns body, the row at key, with the mark of the operation that holds it.
func withMark(op string, key keys.Key, body []byte) ([]byte, error) {
	p, _, err := edm.ReadProperties(body)
	if err != nil {
		return nil, err
	}
	p[PropOp] = op
	return edm.AppendProperties(nil, p, edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row})
}

// Reservation returns the write that reserves the row, which was read as found, for the
// operation Op. The write is conditional on found. It inserts a row that has no other
// purpose than to hold the key or, if Primary already has the row, adds the operation's
// mark to it. needed is false if the operation already holds the row.
//
// Reservation fails with [*OwnedByOther] if the row belongs to another primary, or if
// another operation of Primary holds it and is not c.Decided.
func (c *CopyClaim) Reservation(found txn.Row) (w wire.Write, needed bool, err error) {
	row, err := found.Content()
	if err != nil {
		return w, false, err
	}
	owner, known := ownerOf(row)
	op := row.Text(PropOp)
	switch {
	case found.Absent() || c.Over != nil && known && owner.Primary == *c.Over:
		row = txn.Content{Properties: ownerProperties(c.Primary, c.View)}
		row.Properties[PropState] = stateReserved
	case known && owner.Primary == c.Primary && op == c.Op:
		return w, false, nil
	case !known || owner.Primary != c.Primary || op != "" && op != c.Decided:
		return w, false, c.ownedBy(owner, known, row)
	}
	row.Properties[PropOp] = c.Op
	w, err = row.Over(c.Key, found)
	return w, true, err
}

// ownedBy is the error of a row that c wants and cannot have.
func (c *CopyClaim) ownedBy(owner Owner, known bool, row txn.Content) error {
	return &OwnedByOther{View: c.View, Owner: owner.Primary, Known: known, As: owner.View, Op: row.Text(PropOp), At: row.At}
}
