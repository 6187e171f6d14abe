package patterns

import (
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// copyClaim is what a primary wants of a copy's row.
type copyClaim struct {
	key     keys.Key // of the row
	primary keys.Key
	view    string
	op      string    // the operation at work: what it holds itself is free to it
	body    []byte    // the row wanted; nil for none
	over    *keys.Key // another owner that no longer implies the row, and may be overwritten
	past    string    // an operation of the primary that was carried out, or never will be
}

// write decides what to do about what stands there: one write, conditional on s, or
// none. A row of somebody else's is a *takenError if it is wanted, and left alone
// if not.
func (c *copyClaim) write(s standing) (w wire.Write, act bool, err error) {
	if s.absent() {
		return over(c.key, s, c.body), c.body != nil, nil
	}
	row, err := s.content()
	if err != nil {
		return w, false, err
	}
	owner, marked := row.owner()
	mine := marked && owner.Primary == c.primary
	op := row.text(propOp)
	others := op != "" && op != c.op // then it is that operation's to clear away
	if c.body == nil {
		return away(c.key, s.etag), mine && owner.View == c.view && !others, nil
	}
	if !mine && (c.over == nil || !marked || owner.Primary != *c.over) {
		return w, false, &takenError{owner: owner.Primary, known: marked, op: op, at: row.at}
	}
	body := c.body
	if mine && others {
		if body, err = heldBy(op, c.key, body); err != nil {
			return w, false, err
		}
	}
	same, err := edm.EqualContent(body, s.body)
	return over(c.key, s, body), !same, err
}

// heldBy is the copy in body, at key, with the name of an operation that holds it.
func heldBy(op string, key keys.Key, body []byte) ([]byte, error) {
	p, _, err := edm.ReadProperties(body)
	if err != nil {
		return nil, err
	}
	p[propOp] = op
	return edm.AppendProperties(nil, p, edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row})
}

// reservation is the row that holds the key for an operation: a row of its own, or,
// where the primary has the row already, that row with the operation's name on it.
// No write is needed where the operation holds it already. What another operation of
// the primary holds is a *takenError too, until that operation is past.
func (c *copyClaim) reservation(s standing) (w wire.Write, act bool, err error) {
	row, err := s.content()
	if err != nil {
		return w, false, err
	}
	owner, marked := row.owner()
	op := row.text(propOp)
	switch {
	case s.absent() || c.over != nil && marked && owner.Primary == *c.over:
		row = content{Properties: ownerProperties(c.primary, c.view)}
		row.Properties[propState] = stateReserved
	case marked && owner.Primary == c.primary && op == c.op:
		return w, false, nil
	case !marked || owner.Primary != c.primary || op != "" && op != c.past:
		return w, false, &takenError{owner: owner.Primary, known: marked, op: op, at: row.at}
	}
	row.Properties[propOp] = c.op
	w, err = row.over(c.key, s)
	return w, true, err
}

// owner is what the row says about whose copy it is.
func (c content) owner() (Owner, bool) {
	pk, ok1 := c.Properties[propOwnerPK].(string)
	rk, ok2 := c.Properties[propOwnerRK].(string)
	view, ok3 := c.Properties[propView].(string)
	o := Owner{Primary: keys.Key{Partition: pk, Row: rk}, View: view, Reserved: c.text(propState) == stateReserved}
	return o, ok1 && ok2 && ok3
}
