package txn

import (
	"cmp"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Change is an operation that is ready to send: checked, encoded, stamped.
type Change struct {
	wire.Write
	Op   string // "insert", "replace", …
	ID   string // the stamp of this write, "" if writes are not stamped
	Base string // the stamps of the version that it changes, "" for any version

	next *edm.Unknown // describes the row after the change, if it has texts of its own

	// Stamps reads the stamps of the stored row. If it is nil, they are in the property
	// azp_stamp.
	Stamps func(body []byte) (string, error)

	// IfExists marks a delete that also succeeds if the row does not exist.
	IfExists bool
	// Repeatable marks a write whose caller asked for its result only, whatever the row was before:
	// it is as if it was applied if the row has the content that was to be written. So is the insert
	// of a row whose key no other write has.
	Repeatable bool
}

// Key is the key of the changed row.
func (c *Change) Key() keys.Key { return keys.Key{Partition: c.PartitionKey, Row: c.RowKey} }

// Prepare checks op and appends its encoded row to dst, or to a new buffer if dst is nil or
// has no room. It sends nothing. On error the Change still has the key, if it is known.
func (t *Table) Prepare(op *Op, dst []byte) (Change, error) {
	c := Change{Write: wire.Write{Kind: op.Kind, ETag: op.ETag}, Op: op.OpName(), IfExists: op.IfExists}
	err := t.complete(&c, op, dst)
	if err != nil {
		err = fmt.Errorf("%s: %w", c.Op, err)
	}
	return c, err
}

func (t *Table) complete(c *Change, op *Op, dst []byte) error {
	if op.Value == nil && op.Kind != wire.Delete {
		return fmt.Errorf("value: %w", azerr.ErrNil)
	}
	if op.BadMode {
		return azerr.Errorf("mode is neither Merge nor Replace")
	}
	if op.Kind == wire.Replace && op.projected() {
		return azerr.ErrProjected
	}
	if err := c.Check(); err != nil {
		return err
	}
	key, err := t.rowKey(op)
	c.PartitionKey, c.RowKey = key.Partition, key.Row
	if err = cmp.Or(err, t.Writable.Check(key.Partition)); err != nil {
		return err
	}
	if op.Kind == wire.Delete {
		return nil
	}
	e := edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row}
	var rest edm.Unknown
	if o := op.Origin; o != nil {
		if rest = o.Unknown.OnlyFields(); op.Kind == wire.Replace || op.Kind == wire.Insert {
			rest = o.Unknown // a merge keeps unknown properties without sending them
		}
	}
	if e.Only, err = op.properties(t.Codec); err != nil {
		return err
	}
	// A merge of any version may be one into a row that has what the row that was read lacked.
	e.Named = op.only != nil || op.Kind == wire.Merge && op.ETag == "*"
	rest = op.unknown(rest)
	e.Unknown = &rest
	if t.Stamped {
		c.ID, c.Base = newStamp(), op.base()
		e.Stamp = AddStamp(c.ID, c.Base)
	}
	if c.Body, err = t.Codec.Append(dst, op.Value, e); err == nil && op.Origin != nil && op.Origin.Unknown.HasTexts() {
		after, _ := op.after(t.Codec, c.Body)
		c.next = &after
	}
	return cmp.Or(op.err, err)
}

// stored records that the change was carried out.
func (c *Change) stored(etag string) {
	if c.next != nil {
		c.next.Stored(etag)
	}
}
