package secondaryindex

import (
	"context"

	"github.com/azpatterns/azpatterns/patterns"
)

// repair makes what stands at e's place agree with its primary. Who writes through
// the Store meanwhile is not disturbed.
func (r *Reader[T]) repair(ctx context.Context, e Entry[T]) error {
	return r.store.Repair(ctx, e.Primary, patterns.RowRef{View: r.index.by.Name, Partition: e.Key.Partition, Row: e.Key.Row})
}
