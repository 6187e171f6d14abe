package largeentity

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Item is an entity: its value and the data that the service keeps with it. An Item
// returned by a read or write also contains the references to the entity's blobs, and
// which of the blobs were read. An Item is a value: it may be read concurrently while no
// goroutine changes it or what its Value refers to.
type Item[T any] struct {
	Value T
	Key   keys.Key

	// ETag is the version of the row, and therefore of its blobs.
	ETag azcore.ETag

	// Timestamp is the service's time of the last write. It is zero in the result of a
	// write, because the service does not return it there.
	Timestamp time.Time

	row   patterns.Item[T] // its Value is zero
	blobs references

	// replaced are references in the row that do not count: their blobs are dropped by the
	// next write.
	replaced references

	loaded map[string]bool // the properties in blobs that Value contains

	// unchecked are the contents, as the field encodes them, that were loaded from blobs
	// whose references have no checksum.
	unchecked map[string]digest
}

// Blob returns the reference to the blob in which the property is stored. ok is false if
// the property is stored in the row, or is zero.
func (i Item[T]) Blob(property string) (ref BlobRef, ok bool) {
	ref, ok = i.blobs[property]
	return ref, ok
}

// Loaded reports whether Value contains the property. It is false only if the property
// is stored in a blob that was not read.
func (i Item[T]) Loaded(property string) bool {
	_, inBlob := i.blobs[property]
	return !inBlob || i.loaded[property]
}

// contentOf returns the digest of the content of the property's blob, zero if it is not
// known.
func (i *Item[T]) contentOf(property string) digest {
	if ref := i.blobs[property]; ref.checked() {
		return ref.digest()
	}
	return i.unchecked[property]
}

// copy returns i with its own maps.
func (i Item[T]) copy() Item[T] {
	i.blobs = i.blobs.clone()
	loaded := map[string]bool{}
	maps.Copy(loaded, i.loaded)
	i.loaded = loaded
	unchecked := map[string]digest{}
	maps.Copy(unchecked, i.unchecked)
	i.unchecked = unchecked
	return i
}

// FromRow returns the Item for a row that was read with [Table.Table], for example by a
// query. The fields that are stored in blobs are zero, or are Streams that can be opened.
// No request. If the row was read without all of its properties, the error is
// [patterns.ErrProjected].
func (t *Table[T]) FromRow(row patterns.Item[T]) (Item[T], error) {
	if err := t.usable(); err != nil {
		return Item[T]{}, err
	}
	if row.Projected() {
		return Item[T]{}, fmt.Errorf("from row: %w", patterns.ErrProjected)
	}
	item := Item[T]{Value: row.Value, Key: row.Key, ETag: row.ETag, Timestamp: row.Timestamp, row: row, loaded: map[string]bool{}}
	var zero T
	item.row.Value = zero
	var err error
	if item.blobs, item.replaced, err = t.references(row.Property); err != nil {
		return Item[T]{}, err
	}
	for i := range t.fields {
		f := &t.fields[i]
		if !f.isZero(&item.Value) {
			// Another program has written the property since.
			delete(item.blobs, f.property)
		}
	}
	t.bindStreams(&item)
	return item, nil
}

// bindStreams sets the Streams of a stored entity, so that they can be opened.
func (t *Table[T]) bindStreams(item *Item[T]) {
	for i := range t.fields {
		f := &t.fields[i]
		if ref, ok := item.blobs[f.property]; ok && f.kind == streamField {
			*f.in(&item.Value).Addr().Interface().(*Stream) = Stream{stored: &storedStream{
				blobs: t.blobs, container: t.container, property: f.property, ref: ref,
			}}
			item.loaded[f.property] = true
		}
	}
}

// referencesProperty is the property of a row that contains the references to its blobs.
const referencesProperty = "azp_blobs"

// referencesVersion is the version of the format of that property.
const referencesVersion = 1

// gzipEncoding is the only value of BlobRef.Encoding other than "".
const gzipEncoding = "gzip"

// BlobRef is a reference to a blob, as it is stored in the entity's row. A blob is created
// once, under a unique name, and never changed.
type BlobRef struct {
	Container string `json:"container"`
	Name      string `json:"name"`
	Length    int64  `json:"length"`             // of the value, in bytes before compression
	SHA256    string `json:"sha256"`             // of the value, hexadecimal
	Encoding  string `json:"encoding,omitempty"` // "gzip", or "" if not compressed

	// URL is the address in the row if another program has written it, see
	// [Options.Addresses]; otherwise "". Length and SHA256 are then zero, because they are
	// not known. If the blob is not in the container of the Table, Container is "".
	URL string `json:"-"`
}

// checked reports whether the content of the blob is known.
func (b BlobRef) checked() bool { return b.SHA256 != "" }

// references are the references of one row, by property. They are stored as JSON:
//
//	{"version":1,"blobs":{"Photo":{"container":"…","name":"…","length":3,"sha256":"…"}}}
type references map[string]BlobRef

type referencesJSON struct {
	Version int        `json:"version"`
	Blobs   references `json:"blobs,omitempty"`
}

// marshal omits the references that are only stored as an address.
func (r references) marshal() string {
	checked := references{}
	for property, ref := range r {
		if ref.checked() {
			checked[property] = ref
		}
	}
	text, _ := json.Marshal(referencesJSON{referencesVersion, checked}) // strings and numbers cannot fail
	return string(text)
}

func parseReferences(text string) (references, error) {
	invalid := func(reason string) error { return fmt.Errorf("read references: %w", corrupt(reason)) }
	var form referencesJSON
	if err := json.Unmarshal([]byte(text), &form); err != nil {
		return nil, invalid("references are not JSON of the documented format")
	}
	if form.Version != referencesVersion {
		return nil, invalid("references have an unknown version")
	}
	for _, b := range form.Blobs {
		sum, err := hex.DecodeString(b.SHA256)
		switch {
		case b.Name == "" || b.Length < 0 || err != nil || len(sum) != 32:
			return nil, invalid("a reference is incomplete")
		case !naming.ValidBlob(b.Name):
			return nil, invalid("a reference is not to a blob")
		case b.Encoding != "" && b.Encoding != gzipEncoding:
			return nil, invalid("a reference has an unknown encoding")
		}
	}
	return form.Blobs.clone(), nil
}

func (r references) anyChecked() bool {
	for _, ref := range r {
		if ref.checked() {
			return true
		}
	}
	return false
}

// has reports whether r contains a reference to the blob with that name.
func (r references) has(name string) bool {
	for _, ref := range r {
		if ref.Name == name {
			return true
		}
	}
	return false
}

func (r references) list() []BlobRef { return slices.Collect(maps.Values(r)) }

func (r references) clone() references {
	if r == nil {
		return references{}
	}
	return maps.Clone(r)
}
