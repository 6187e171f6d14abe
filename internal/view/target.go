package view

import (
	"bytes"
	"context"

	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Reconciler is a Target that is not a table and supports conditional writes, such as a
// blob container.
type Reconciler interface {
	types.Target

	// Reconcile makes the row at c.Key agree with what c.Owner implies now. It must be
	// idempotent. It must write only on condition that the row is still as it was read,
	// and read again if it is not. It must not change what other primaries have there. wrote
	// reports whether it sent a write. It calls calls.MarkUnanswered if a write may still be
	// carried out afterwards.
	Reconcile(ctx context.Context, c Claim) (wrote bool, err error)
}

// Claim is what one primary implies, or no longer implies, for one remote row.
type Claim struct {
	View  *View
	Key   keys.Key
	Owner keys.Key // the primary's key

	// Wanted means that the primary implies the row now. Otherwise nothing of the primary
	// may remain in the row.
	Wanted bool

	// Keep means that the primary implies the row, but was written without a Store. That
	// program may maintain the row itself: a copy or a list is neither stored nor removed.
	// Only a reservation is.
	Keep bool

	// Decided is another operation of Owner of which it was certain, before Owner was read,
	// that it was applied or never will be: its mark does not hold the row.
	Decided string

	Op    string          // the operation that is being completed
	Body  []byte          // of a wanted copy: the whole row
	Old   []byte          // of a copy: the row that an earlier version implied, if known
	Only  []string        // of a copy: the properties that Body and Old have, nil for all
	Merge types.MergeSpec // of a wanted merge

	// MayOverwrite reports whether a row that belongs to another primary may be
	// overwritten, because that primary no longer implies it. If nil, it may not.
	MayOverwrite func(context.Context, *OwnedByOther) (bool, error)
}

// HeldBy returns the operation that has reserved the row of a copy, if it is one of Owner but
// not c.Op, and "" otherwise.
func (c *Claim) HeldBy(found Found) (op string, err error) {
	if c.View.Shape.Kind != types.Copies || !bytes.Contains(found.Row.Body, []byte(PropOp)) {
		return "", nil
	}
	row, err := found.Row.Content()
	if err != nil {
		return "", err
	}
	owner, known, err := c.View.ownerOf(c.Key, row.Properties)
	if op = row.Text(PropOp); err != nil || !known || owner.Primary != c.Owner || op == c.Op {
		return "", err
	}
	return op, nil
}

// Found is what was read to carry out a claim. The zero Found means that nothing is
// stored.
type Found struct {
	Row  txn.Row
	Mark txn.Row // the owner's mark; only for Merges
	Sum  txn.Row // the sum row; only for Merges whose row or counter is missing

	// others are the sums of the parts of all other primaries, if they were added up.
	others map[string]int64
}

// writes returns the writes that carry out the claim, to be sent in one transaction, given
// what was read. former, if not nil, is a primary whose row may be overwritten.
func (c *Claim) writes(found Found, former *keys.Key) ([]*wire.Write, error) {
	var w wire.Write
	var needed bool
	var err error
	switch c.View.Shape.Kind {
	case types.Copies:
		cc := CopyClaim{View: c.View, Key: c.Key, Primary: c.Owner, Op: c.Op, Body: c.Body, Old: c.Old, Only: c.Only, Keep: c.Keep, Over: former, Decided: c.Decided}
		w, needed, err = cc.write(found.Row)
	case types.Members:
		w, needed, err = c.memberWrite(found.Row)
	default:
		return c.mergeWrites(found, former)
	}
	if err == errLeave {
		return nil, nil
	}
	if err != nil || !needed {
		return nil, err
	}
	return []*wire.Write{&w}, nil
}
