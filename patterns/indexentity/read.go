package indexentity

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/indexed"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Reader reads an index. It may be used by any number of goroutines.
//
// Where a method asks for the partition, that is the partition key of the primaries
// for an index made by [SamePartition]; for others it is not looked at.
type Reader[T any] struct {
	index *Index[T]
	store *patterns.Store[T]
	lists *patterns.Table[map[string]any]
}

// On gives the reader of ix in store, of whose views ix must be one: else it fails with
// [patterns.ErrBadView]. No request.
func (ix *Index[T]) On(store *patterns.Store[T]) (*Reader[T], error) {
	if ix == nil || store == nil {
		return nil, fmt.Errorf("read index: index or store: %w", patterns.ErrNil)
	}
	lists, err := indexed.Rows[map[string]any](store, ix, ix.table)
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	return &Reader[T]{ix, store, lists}, nil
}

// Members gives the keys of the primaries in the list for a value, in the order of
// [keys.Key.Compare]; none where there is no list. One request. A list that follows through the outbox may name a
// primary that is gone, or has another value by now.
func (r *Reader[T]) Members(ctx context.Context, partition, value string) ([]keys.Key, error) {
	place, err := r.index.place(partition, value)
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	texts, err := r.read(ctx, place)
	if err != nil {
		return nil, err
	}
	members := make([]keys.Key, len(texts))
	for i, text := range texts {
		members[i] = list{r.index.local}.key(text, partition)
	}
	return members, nil
}

func (r *Reader[T]) read(ctx context.Context, place keys.Key) ([]string, error) {
	if r.index.blobs != nil {
		members, _, err := (&blobs{r.index.by.Name, r.index.blobs}).read(ctx, place)
		return members, err
	}
	item, err := r.lists.Get(ctx, place)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return list{r.index.local}.read(item.Value)
}

const defaultParallel = 8

// Entities gives the primaries that have the value, in the order of the list. It
// reads the list and then each member, up to [Options.Parallel] at once, as the loop
// asks for them; members that are gone, or have another value by now, are left out.
// One request, and one for each member.
func (r *Reader[T]) Entities(ctx context.Context, partition, value string) iter.Seq2[patterns.Item[T], error] {
	return func(yield func(patterns.Item[T], error) bool) {
		members, err := r.Members(ctx, partition, value)
		if err != nil {
			yield(patterns.Item[T]{}, err)
			return
		}
		window := parallel.Window{Start: r.index.opts.Parallel, Max: r.index.opts.Parallel}
		if window.Max <= 0 {
			window = parallel.Window{Start: defaultParallel, Max: defaultParallel}
		}
		for item, err := range parallel.Ordered(ctx, len(members), window, func(ctx context.Context, i int) (*patterns.Item[T], error) {
			item, err := r.store.Get(ctx, members[i])
			if errors.Is(err, patterns.ErrNotFound) {
				return nil, nil
			}
			return &item, err
		}) {
			if err != nil {
				yield(patterns.Item[T]{}, err)
				return
			}
			if item == nil {
				continue
			}
			shown := item.Value // a function that folds its value in place is an easy mistake
			if has, ok := r.index.by.Value(&shown); !ok || r.index.fold(has) != r.index.fold(value) {
				continue
			}
			if !yield(*item, nil) {
				return
			}
		}
	}
}

// codeOf is the service's error code in err, for a message.
func codeOf(err error) string {
	var re *azcore.ResponseError
	if errors.As(err, &re) {
		return fmt.Sprintf(" (%d %s)", re.StatusCode, re.ErrorCode)
	}
	return ""
}
