package largeentity

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// plan is what one write has to do: blobs first, then the row.
type plan[T any] struct {
	key   keys.Key
	value T // as the row stores it: without what goes to blobs
	refs  references
	had   bool // the row had references before
	out   []*outgoing
	since time.Time // when the oldest upload that it relies on began; zero for none
}

// outgoing is a blob to be uploaded.
type outgoing struct {
	field   *field
	ref     Blob
	content []byte  // as stored; unused for a stream
	source  *source // nil where content is in memory
}

// attempt is the uploads of one call, over all its tries.
type attempt struct {
	ready map[digest]uploaded // from memory
	spare map[string]bool     // names of those that no row refers to
}

// uploaded is a blob that was uploaded, and when that began.
type uploaded struct {
	Blob
	since time.Time
}

// digest tells whether two contents are the same.
type digest struct {
	sum    string
	length int64
}

func (b Blob) digest() digest { return digest{b.SHA256, b.Length} }

func newAttempt() *attempt {
	return &attempt{ready: map[digest]uploaded{}, spare: map[string]bool{}}
}

// plan decides where each field of v, the entity at key, goes. old is the item that it
// replaces, nil for none. Nothing is sent.
func (t *Table[T]) plan(key keys.Key, v *T, old *Item[T], a *attempt) (*plan[T], error) {
	p := &plan[T]{key: key, value: *v, refs: references{}}
	if old != nil {
		_, p.had = old.row.Property(referencesName)
	}
	for i := range t.fields {
		f := &t.fields[i]
		var was Blob
		kept := false
		if old != nil {
			was, kept = old.blobs[f.name]
		}
		switch {
		case f.isZero(v):
			if kept && !old.loaded[f.name] { // it was not read, so it was not cleared either
				p.refs[f.name] = was
			}
			continue
		case f.form == stream:
			if err := t.planStream(p, f, was); err != nil {
				return nil, err
			}
			f.clear(&p.value)
			continue
		}
		content, err := f.content(v)
		if err != nil {
			return nil, err
		}
		if !t.apart(f, content) {
			continue
		}
		f.clear(&p.value)
		sum := sha256.Sum256(content)
		ref := Blob{Container: t.container, Length: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
		if kept && was.digest() == ref.digest() {
			p.refs[f.name] = was
			continue
		}
		if ready, ok := a.ready[ref.digest()]; ok && time.Since(ready.since) < t.grace/4 {
			p.refs[f.name] = ready.Blob
			p.began(ready.since)
			continue
		}
		if t.gzip {
			content, ref.Encoding = compress(content)
		}
		p.out = append(p.out, &outgoing{field: f, ref: ref, content: content})
	}
	return p, nil
}

// planStream is plan for one Stream that is not zero; was is its field's reference so far.
func (t *Table[T]) planStream(p *plan[T], f *field, was Blob) error {
	refuse := &Error{Op: "write stream", Property: f.name, kind: ErrStream}
	s := f.in(&p.value).Interface().(Stream)
	if s.stored != nil {
		if s.stored.ref != was {
			return refuse
		}
		p.refs[f.name] = was
		return nil
	}
	s.source.mu.Lock()
	defer s.source.mu.Unlock()
	switch {
	case !s.source.used:
		ref := Blob{Container: t.container, SHA256: hex.EncodeToString(make([]byte, sha256.Size))}
		if t.gzip {
			ref.Encoding = gzipped
		}
		p.out = append(p.out, &outgoing{field: f, ref: ref, source: s.source})
		return nil
	case s.source.owner != any(t) || s.source.ref == (Blob{}):
		return refuse
	case s.source.key != p.key:
		// What is known of a blob, a wake-up above all, is that of its entity.
		return refuse
	case s.source.ref != was: // the row of an earlier try was not written
		p.began(s.source.since)
	}
	p.refs[f.name] = s.source.ref
	return nil
}

// began notes when an upload began that the write relies on.
func (p *plan[T]) began(at time.Time) {
	if p.since.IsZero() || at.Before(p.since) {
		p.since = at
	}
}

// apart reports whether content goes to a blob.
func (t *Table[T]) apart(f *field, content []byte) bool {
	limit := t.threshold
	if f.form != octets {
		limit = min(limit, maxText)
	}
	return len(content) > limit
}

// compress gives the shorter form of content.
func compress(content []byte) ([]byte, string) {
	var short bytes.Buffer
	w := gzip.NewWriter(&short)
	w.Write(content) // a Buffer takes all
	w.Close()
	if short.Len() >= len(content) {
		return content, ""
	}
	return short.Bytes(), gzipped
}

// name gives the blobs to be uploaded their names, in folder.
func (p *plan[T]) name(folder string) {
	for _, o := range p.out {
		o.ref.Name = folder + uuid.NewString()
	}
}

// op is base with the row's content: references included.
func (p *plan[T]) op(base patterns.Op[T]) patterns.Op[T] {
	refs := p.refs.clone()
	for _, o := range p.out {
		refs[o.field.name] = o.ref
	}
	if len(refs) == 0 && !p.had {
		return base
	}
	return base.With(referencesName, refs.text())
}
