package logtail

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/patterns"
)

// Retry appends entries that Append or AppendAll returned beside an error, under
// the keys that they were given then: an entry that is there already stays as it
// is, and does not come twice. It may be called again and again, and by another
// process.
//
// One entry, one request. Several are of one AppendAll, and one transaction and
// request again; if that finds an entry there, each gets a request of its own. An
// Entry that no key was chosen for, since its stream or time was refused, is refused
// here too, with [patterns.ErrBadKey].
func (l *Log[T]) Retry(ctx context.Context, entries ...Entry[T]) error {
	for i := range entries {
		if _, err := timeOf(entries[i].Key.Row); err != nil {
			return fmt.Errorf("retry: entry %d was given no key: %w", i, err)
		}
	}
	if len(entries) > 1 {
		_, err := l.insert(ctx, entries)
		if err == nil {
			return nil
		}
		if !errors.Is(err, patterns.ErrExists) {
			return fmt.Errorf("retry: %w", err)
		}
	}
	window := parallel.Window{Start: l.parallel, Max: l.parallel}
	for _, err := range parallel.Ordered(ctx, len(entries), window, func(ctx context.Context, i int) (struct{}, error) {
		_, err := l.table.Do(ctx, patterns.InsertOp(&entries[i].Value).At(entries[i].Key))
		if errors.Is(err, patterns.ErrExists) {
			err = nil // this entry: nobody else makes its key
		}
		return struct{}{}, err
	}) {
		if err != nil {
			return fmt.Errorf("retry: %w", err)
		}
	}
	return nil
}
