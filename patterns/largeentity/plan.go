package largeentity

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// plan is the content of one write: the blobs to upload first, and then the row.
type plan[T any] struct {
	key     keys.Key
	value   T // as stored in the row: without the fields in blobs
	refs    references
	old     patterns.Item[T] // the row to be replaced, zero for none
	pending []*pendingBlob

	// unchecked are those of [Item] that stay in their blobs.
	unchecked map[string]digest

	start time.Time // of the oldest upload or outbox message that the write relies on; zero for none
}

// pendingBlob is a blob that has to be uploaded.
type pendingBlob struct {
	field   *field
	ref     BlobRef
	content []byte       // as stored; not used for a stream
	source  *source      // nil if the content is in memory
	etag    *azcore.ETag // of the blob that was uploaded from memory, nil if it is not known
}

// uploads are the blobs that one call has uploaded, in all of its tries.
type uploads struct {
	byContent    map[digest]uploadedBlob // uploaded from memory
	unreferenced map[string]*azcore.ETag // by name: those that no row refers to, if their ETags are known
}

type uploadedBlob struct {
	BlobRef
	start time.Time // of the upload
}

// digest identifies a content.
type digest struct {
	sha256 string
	length int64
}

func (b BlobRef) digest() digest { return digest{b.SHA256, b.Length} }

func newUploads() *uploads {
	return &uploads{byContent: map[digest]uploadedBlob{}, unreferenced: map[string]*azcore.ETag{}}
}

// plan determines where each field of v, the entity with that key, is stored. old is the
// item to be replaced, nil if there is none. No request.
func (t *Table[T]) plan(key keys.Key, v *T, old *Item[T], u *uploads) (*plan[T], error) {
	p := &plan[T]{key: key, value: *v, refs: references{}, unchecked: map[string]digest{}}
	if old != nil {
		p.old = old.row
	}
	for i := range t.fields {
		f := &t.fields[i]
		var oldRef BlobRef
		hadRef := false
		if old != nil {
			oldRef, hadRef = old.blobs[f.property]
		}
		switch {
		case f.isZero(v):
			if hadRef && !old.loaded[f.property] { // zero because it was not read: the caller did not clear it
				p.refs[f.property] = oldRef
			}
			continue
		case f.kind == streamField:
			if err := t.planStream(p, f, oldRef); err != nil {
				return nil, err
			}
			f.clear(&p.value)
			continue
		}
		content, err := f.encode(v)
		if err != nil {
			return nil, err
		}
		if !t.inBlob(f, content) {
			continue
		}
		f.clear(&p.value)
		sum := sha256.Sum256(content)
		ref := BlobRef{Container: t.container, Length: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
		if hadRef && old.contentOf(f.property) == ref.digest() {
			p.refs[f.property] = oldRef
			if !oldRef.checked() {
				p.unchecked[f.property] = ref.digest()
			}
			continue
		}
		if done, ok := u.byContent[ref.digest()]; ok && calls.Elapsed(done.start) < t.grace/4 {
			p.refs[f.property] = done.BlobRef
			p.relyOn(done.start)
			continue
		}
		if t.gzip {
			content, ref.Encoding = compress(content)
		}
		p.pending = append(p.pending, &pendingBlob{field: f, ref: ref, content: content})
	}
	return p, nil
}

// planStream is plan for one Stream that is not zero. oldRef is the field's reference in
// the row to be replaced.
func (t *Table[T]) planStream(p *plan[T], f *field, oldRef BlobRef) error {
	s := f.in(&p.value).Interface().(Stream)
	if s.stored != nil {
		if s.stored.ref != oldRef {
			return badStream(f)
		}
		p.refs[f.property] = oldRef
		return nil
	}
	s.source.mu.Lock()
	defer s.source.mu.Unlock()
	switch {
	case !s.source.used:
		ref := BlobRef{Container: t.container, SHA256: hex.EncodeToString(make([]byte, sha256.Size))}
		if t.gzip {
			ref.Encoding = gzipEncoding
		}
		p.pending = append(p.pending, &pendingBlob{field: f, ref: ref, source: s.source})
		return nil
	case s.source.owner != any(t) || s.source.ref == (BlobRef{}):
		return badStream(f)
	case s.source.key != p.key:
		// The outbox message for the blob names the other entity, so its worker could
		// delete a blob to which this entity refers.
		return badStream(f)
	case s.source.ref != oldRef: // an earlier try uploaded it, but did not write the row
		p.relyOn(s.source.uploadStart)
	}
	p.refs[f.property] = s.source.ref
	return nil
}

// relyOn records that the write relies on an upload or outbox message that started at that
// time.
func (p *plan[T]) relyOn(start time.Time) {
	if p.start.IsZero() || start.Before(p.start) {
		p.start = start
	}
}

// inBlob reports whether content is stored in a blob.
func (t *Table[T]) inBlob(f *field, content []byte) bool {
	limit := t.threshold
	if f.address != "" {
		return true
	}
	if f.kind != bytesField {
		limit = min(limit, maxTextInRow)
	}
	return len(content) > limit
}

const (
	gzipLevel = 4        // half the time of the default level, for 4 % more bytes of source text
	probeSize = 64 << 10 // bytes at the beginning of a value that decide whether to compress it
)

// newGzip returns a Writer to dst that has compressed the first probeSize bytes of a value.
// It returns nil if they do not become shorter by a sixteenth: then the value is, for
// example, an image, whose compression would take time and save nothing.
func newGzip(dst *bytes.Buffer, head []byte) *gzip.Writer {
	w, _ := gzip.NewWriterLevel(dst, gzipLevel)
	w.Write(head) // a Buffer returns no error
	w.Flush()
	if dst.Len() > len(head)-len(head)/16 {
		return nil
	}
	return w
}

// compress returns content, compressed if that is shorter, and its encoding.
func compress(content []byte) ([]byte, string) {
	var short bytes.Buffer
	head := content[:min(len(content), probeSize)]
	w := newGzip(&short, head)
	if w == nil {
		return content, ""
	}
	w.Write(content[len(head):])
	w.Close()
	if short.Len() >= len(content) {
		return content, ""
	}
	return short.Bytes(), gzipEncoding
}

// nameBlobs assigns a new name to each pending blob.
func (p *plan[T]) nameBlobs(prefix string) {
	for _, b := range p.pending {
		b.ref.Name = prefix + uuid.NewString()
	}
}

// op returns base with the references as properties of the row.
func (t *Table[T]) op(p *plan[T], base patterns.Op[T]) patterns.Op[T] {
	refs := p.refs.clone()
	for _, b := range p.pending {
		refs[b.field.property] = b.ref
	}
	if _, had := p.old.Property(referencesProperty); had || refs.anyChecked() {
		base = base.With(referencesProperty, refs.marshal())
	}
	for i := range t.fields {
		f := &t.fields[i]
		if f.address == "" {
			continue
		}
		ref, ok := refs[f.property]
		_, had := p.old.Property(f.address)
		switch {
		case ok && ref.URL != "":
			base = base.With(f.address, ref.URL)
		case ok:
			base = base.With(f.address, t.address(ref.Name))
		case had:
			base = base.With(f.address, "")
		}
	}
	return base
}

// droppedBy returns the references of old that are not part of p.
func droppedBy[T any](p *plan[T], old *Item[T]) []BlobRef {
	var dropped []BlobRef
	if old != nil {
		for _, ref := range append(old.blobs.list(), old.replaced.list()...) {
			if !p.refs.has(ref.Name) {
				dropped = append(dropped, ref)
			}
		}
	}
	return dropped
}
