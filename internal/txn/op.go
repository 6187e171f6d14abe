package txn

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Record is an entity together with its row's metadata.
type Record struct {
	Value     any // a pointer to the entity; nil: there is none
	Key       keys.Key
	ETag      string
	Timestamp time.Time
	Origin    *Origin
}

// Origin is what an item remembers of the row that it was read from. It must not be changed.
type Origin struct {
	Unknown  edm.Unknown // properties without a field
	Stamp    string      // the row's write stamps
	Version  string      // the ETag of the version that has these stamps
	Selected []string    // the properties that were requested, nil for all
	Sent     []byte      // the row as the service sent it, nil if that was not asked for
}

// NewOrigin returns what an item that was read remembers, nil if that is nothing.
// stamped selects whether it remembers the row's write stamps.
func NewOrigin(meta *edm.Meta, unknown *edm.Unknown, selected []string, stamped bool) *Origin {
	if unknown.IsZero() && selected == nil && (!stamped || meta.Stamp == "") {
		return nil
	}
	return &Origin{Unknown: *unknown, Stamp: meta.Stamp, Version: meta.ETag, Selected: selected}
}

// At returns o, which describes the version read of a row, as it describes the version etag: an item
// that was read may have the ETag of a version that was written later, by a transaction. A write of any
// version writes what was read, and so does an item that was not read with a version.
func (o *Origin) At(read, etag string) *Origin {
	if o == nil || etag == read || read == "" || etag == "" || etag == "*" {
		return o
	}
	u, changed := o.Unknown.At(etag)
	if !changed {
		return o
	}
	at := *o
	at.Unknown = u
	return &at
}

// Origins makes what the items of one table remember. Items that remember the same share it. It is
// safe for concurrent use.
type Origins struct{ last atomic.Pointer[Origin] }

// New is NewOrigin, also for nil.
func (c *Origins) New(meta *edm.Meta, unknown *edm.Unknown, selected []string, stamped bool) *Origin {
	if c == nil || meta.Stamp != "" || !unknown.IsShared() {
		return NewOrigin(meta, unknown, selected, stamped)
	}
	if selected == nil && unknown.IsZero() {
		return nil
	}
	o := c.last.Load()
	if o == nil || o.Unknown.Differs(unknown) || (o.Selected == nil) != (selected == nil) || !slices.Equal(o.Selected, selected) {
		o = &Origin{Unknown: *unknown, Selected: selected}
		c.last.Store(o)
	}
	return o
}

// Op is one operation on one row, as the caller asked for it.
type Op struct {
	Kind   wire.Kind
	Name   string // "insert", "replace", …; "" is that of Kind
	Value  any    // a pointer to the entity; nil for a delete
	Key    keys.Key
	ETag   string
	Origin *Origin

	// IfExists marks a delete that also succeeds if the row does not exist.
	IfExists bool
	// BadMode marks an upsert whose mode is neither merge nor replace.
	BadMode bool

	placed bool     // the key was set by At
	only   []string // the properties of the value to write, nil for all
	texts  []edm.Text
	err    error // of a text
}

// OpName returns the name of the operation.
func (o *Op) OpName() string {
	if o.Name != "" {
		return o.Name
	}
	return o.Kind.String()
}

// At sets the row's key, which is otherwise derived from the value.
func (o *Op) At(key keys.Key) { o.Key, o.placed = key, true }

// With adds a text property to the row, which replaces an earlier one of that name.
func (o *Op) With(name, text string) {
	others := slices.DeleteFunc(slices.Clone(o.texts), func(t edm.Text) bool { return t.Name == name })
	o.texts = append(others, edm.Text{Name: name, Value: text})
	o.err = nil
	for _, t := range o.texts {
		o.err = cmp.Or(o.err, t.Check())
	}
}

// Only restricts the row to the named properties of the value.
func (o *Op) Only(properties []string) { o.only = append([]string{}, properties...) }

// properties returns the properties of the value to write, nil for all.
func (o *Op) properties(codec *edm.Codec) ([]string, error) {
	if o.only == nil {
		if o.Origin == nil {
			return nil, nil
		}
		return o.Origin.Selected, nil
	}
	if o.Kind == wire.Replace || o.Kind == wire.InsertOrReplace {
		return nil, azerr.ErrProjected
	}
	for _, name := range o.only {
		if !codec.Has(o.Value, name) {
			return nil, &types.PropertyError{Property: name, Want: "a property of the value", Got: "an unknown name"}
		}
	}
	return o.only, nil
}

func (o *Op) projected() bool { return o.Origin != nil && o.Origin.Selected != nil }

// unknown returns rest together with the properties that With added.
func (o *Op) unknown(rest edm.Unknown) edm.Unknown {
	if len(o.texts) == 0 || o.err != nil {
		return rest
	}
	return rest.WithTexts(o.texts...)
}

// after describes the row that op was read as after body was written.
func (o *Op) after(codec *edm.Codec, body []byte) (after edm.Unknown, changed bool) {
	return codec.After(o.Value, &o.Origin.Unknown, body, o.Kind == wire.Merge || o.Kind == wire.InsertOrMerge)
}

// base returns the stamps of the version that op changes, "" if it has no condition.
func (o *Op) base() string {
	switch {
	case o.Kind < wire.Merge || o.ETag == "*":
		return ""
	case o.Origin != nil && o.Origin.Stamp != "" && o.Origin.Version == o.ETag:
		return BaseStamps(o.ETag, o.Origin.Stamp)
	}
	return BaseStamps(o.ETag, "")
}

// CheckETag refuses the ETag of an op that must have that of a version that was read.
func (o Op) CheckETag() error {
	if o.ETag == "*" {
		return azerr.ErrBadETag
	}
	return (&wire.Write{Kind: o.Kind, ETag: o.ETag}).Check()
}
