package largeentity

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// parallelBlobs is how many blobs of one entity are written or read at once.
const parallelBlobs = 4

// Get reads the entity at key with all its blobs, or fails with
// [patterns.ErrNotFound]. One request, and one for each blob but those of Streams.
//
// What it gives is one version of the entity: a blob never changes, and the row says
// which ones belong to it. If a blob is gone, Get reads the row again, since the
// entity was changed longer than [Options.Grace] ago, while this Get was under way;
// if the row still refers to it, the error is [ErrBlobGone].
func (t *Table[T]) Get(ctx context.Context, key keys.Key) (Item[T], error) {
	var last Item[T]
	for try := 1; ; try++ {
		item, err := t.GetMeta(ctx, key)
		if err != nil {
			return Item[T]{}, err
		}
		// The second of two equal versions has been tried.
		again := try < t.tries && (try == 1 || item.ETag != last.ETag)
		full, err := t.Load(ctx, item)
		if err == nil || !errors.Is(err, ErrBlobGone) || !again {
			return full, err
		}
		last = item
	}
}

// GetMeta reads the entity at key without its blobs: fields that stand in one are
// zero, [Item.Blob] tells their length, [Table.Load] reads them. One request.
func (t *Table[T]) GetMeta(ctx context.Context, key keys.Key) (Item[T], error) {
	row, err := t.table.Get(ctx, key)
	if err != nil {
		return Item[T]{}, err
	}
	return t.Meta(row)
}

// Load reads the blobs of the named properties, or all if none is named, into a copy
// of item. One request for each that is not loaded yet, but none for Streams. When
// the entity was changed longer than [Options.Grace] ago, they may be gone: then it
// fails with [ErrBlobGone], and the entity has to be read again.
func (t *Table[T]) Load(ctx context.Context, item Item[T], properties ...string) (Item[T], error) {
	wanted := make([]*field, 0, len(t.fields))
	for i := range t.fields {
		if f := &t.fields[i]; len(properties) == 0 && !item.Loaded(f.name) {
			wanted = append(wanted, f)
		}
	}
	for _, name := range properties {
		f := t.field(name)
		if f == nil {
			return Item[T]{}, &patterns.PropertyError{Property: name, Want: "a field tagged blob", Got: "none"}
		}
		if !item.Loaded(name) {
			wanted = append(wanted, f)
		}
	}
	item = item.copy()
	i := 0
	for content, err := range parallel.Ordered(ctx, len(wanted), parallel.Window{Start: parallelBlobs, Max: parallelBlobs},
		func(ctx context.Context, i int) ([]byte, error) {
			return fetch(ctx, t.blobs, t.container, wanted[i].name, item.blobs[wanted[i].name])
		}) {
		if err == nil {
			err = wanted[i].set(&item.Value, content)
		}
		if err != nil {
			return Item[T]{}, fmt.Errorf("load: %w", err)
		}
		item.loaded[wanted[i].name] = true
		i++
	}
	return item, nil
}

func (t *Table[T]) field(name string) *field {
	for i := range t.fields {
		if t.fields[i].name == name {
			return &t.fields[i]
		}
	}
	return nil
}
