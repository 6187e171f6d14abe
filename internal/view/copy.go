package view

import (
	"errors"
	"maps"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// CopyClaim is what a primary wants of the row of a copy.
type CopyClaim struct {
	View    *View
	Key     keys.Key // of the row
	Primary keys.Key

	// Op is the operation that makes the claim. Its own mark on the row is not in its way.
	Op string

	// Body is the row wanted, nil to delete it.
	Body []byte

	// Only are the properties that Body and Old have, nil for all.
	Only []string

	// Old is the row that an earlier version of the primary implied, if that is known.
	Old []byte

	// New means that the primary has not implied the row before, and that other primaries may
	// imply it too. A row without a marker that equals Body may then belong to one of them.
	New bool

	// Keep means that a row which is to be deleted stays, without the mark of Op, unless it
	// only holds its key; see [Claim.Keep].
	Keep bool

	// Over, if not nil, is another primary, which no longer implies the row: its row may be
	// overwritten.
	Over *keys.Key

	// Decided is an operation of Primary of which it is certain that it was applied, or
	// never will be: its mark does not hold the row.
	Decided string
}

// write returns the write that makes the row, which was read as found, what c wants.
// The write is conditional on found. needed is false if no write is necessary. A row
// that belongs to another primary is an [*OwnedByOther] if c wants the row, and
// is left alone otherwise. The error is [errLeave] if c wants a row that stays as it is.
func (c *CopyClaim) write(found txn.Row) (w wire.Write, needed bool, err error) {
	if found.Absent() {
		return txn.Over(c.Key, found, c.Body), c.Body != nil, nil
	}
	row, owner, known, err := c.owner(found)
	if err != nil {
		return w, false, err
	}
	own := known && owner.Primary == c.Primary
	op := row.Text(PropOp)
	heldByOther := op != "" && op != c.Op && op != c.Decided // then that operation removes its mark, or the row
	if c.Body == nil && c.Keep && !owner.Reserved {
		if !own || op == "" || op != c.Op {
			return w, false, nil
		}
		delete(row.Properties, PropOp)
		if c.View.Shape.Plain {
			row.Properties = withoutReserved(row.Properties)
		}
		w, err = txn.OverWith(c.Key, found, row)
		return w, true, err
	}
	if c.Body == nil {
		return txn.Delete(c.Key, found.ETag), own && owner.View == c.View.Name && !heldByOther, nil
	}
	if !own && (c.Over == nil || !known || owner.Primary != *c.Over) {
		return w, false, c.refused(owner, known, row)
	}
	want, err := edm.ContentOf(c.Body)
	if err != nil {
		return w, false, err
	}
	if own && !owner.Reserved && !(isUnmarked(row.Properties) && c.View.Shape.Adopt == types.AdoptOverwrite) {
		want = c.View.at(c.Key).over(want, row, c.Only)
	}
	if own && heldByOther {
		want.Properties[PropOp] = op
	}
	w, err = txn.OverWith(c.Key, found, want)
	return w, !want.Equal(row.Properties) || row.Stamp != "", err
}

// owner returns the content of the row that was read as found, and its owner. A row that c
// adopts has the owner that its marker is going to state.
func (c *CopyClaim) owner(found txn.Row) (row edm.Content, owner Owner, known bool, err error) {
	if row, err = found.Content(); err != nil {
		return row, owner, false, err
	}
	owner, known, err = c.View.ownerOf(c.Key, row.Properties)
	if known || err != nil || found.Absent() {
		return row, owner, known, err
	}
	adopted, err := c.adopts(row)
	if adopted {
		owner = Owner{Primary: c.Primary, View: c.View.Name}
	}
	return row, owner, adopted, err
}

// adopts reports whether c takes over a row that states no owner: it has no property of the
// library, and is the copy that the primary implies or implied, unless c is New, or may be
// overwritten.
func (c *CopyClaim) adopts(row edm.Content) (bool, error) {
	if !isUnmarked(row.Properties) || c.Body == nil && c.Old == nil {
		return false, nil
	}
	if c.View.Shape.Adopt == types.AdoptOverwrite {
		return true, nil
	}
	if c.New {
		return false, nil
	}
	for _, body := range [][]byte{c.Body, c.Old} {
		if body == nil {
			continue
		}
		implied, _, err := edm.ReadProperties(body)
		if err != nil {
			return false, err
		}
		if c.View.at(c.Key).recognizes(implied, row.Properties, c.Only) {
			return true, nil
		}
	}
	return false, nil
}

// Adoption returns the write that adds the marker to the row, which was read as found, so
// that a process which does not know the old version of the primary can recognize the row.
// The write is conditional on found. needed is false if c does not adopt the row.
func (c *CopyClaim) Adoption(found txn.Row) (w wire.Write, needed bool, err error) {
	row, owner, known, err := c.owner(found)
	if err != nil || !known || owner.Primary != c.Primary || !isUnmarked(row.Properties) || c.View.Shape.Plain {
		return w, false, err
	}
	maps.Copy(row.Properties, OwnerProperties(c.Primary, c.View.Name))
	w, err = txn.OverWith(c.Key, found, row)
	return w, true, err
}

// Reservation returns the write that reserves the row, which was read as found, for the
// operation Op. The write is conditional on found. It inserts a row that has no other
// purpose than to hold the key or, if Primary already has the row, adds the operation's
// mark to it. needed is false if the operation already holds the row.
//
// Reservation fails with [*OwnedByOther] if the row belongs to another primary, or if
// another operation of Primary holds it and is not c.Decided.
func (c *CopyClaim) Reservation(found txn.Row) (w wire.Write, needed bool, err error) {
	row, owner, known, err := c.owner(found)
	if err != nil {
		return w, false, err
	}
	op := row.Text(PropOp)
	switch {
	case found.Absent() || c.Over != nil && known && owner.Primary == *c.Over:
		row = edm.Content{Properties: OwnerProperties(c.Primary, c.View.Name)}
		row.Properties[PropState] = stateReserved
	case known && owner.Primary == c.Primary && op == c.Op:
		return w, false, nil
	case !known || owner.Primary != c.Primary || op != "" && op != c.Decided:
		if err = c.refused(owner, known, row); err == errLeave {
			err = nil
		}
		return w, false, err
	}
	if isUnmarked(row.Properties) {
		maps.Copy(row.Properties, OwnerProperties(c.Primary, c.View.Name))
	}
	row.Properties[PropOp] = c.Op
	w, err = txn.OverWith(c.Key, found, row)
	return w, true, err
}

// refused is the error of a row that c wants and cannot have.
func (c *CopyClaim) refused(owner Owner, known bool, row edm.Content) error {
	if !known && c.View.Shape.Adopt == types.AdoptLeave {
		return errLeave
	}
	return &OwnedByOther{View: c.View.Name, Owner: owner.Primary, Known: known, As: owner.View, Op: row.Text(PropOp), At: row.Timestamp}
}

// errLeave means that a row stays as it is, because of [AdoptLeave].
var errLeave = errors.New("the row is left alone")
