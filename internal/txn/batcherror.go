package txn

import (
	"errors"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// isOneRow reports whether the transaction failed because of the one operation that the
// error names, so that the others may succeed without it.
func isOneRow(e *types.BatchError) bool {
	return e.Index >= 0 && e.Err != nil && !errors.Is(e, azerr.ErrOutcomeUnknown) &&
		!errors.Is(e, azerr.ErrThrottled) && !errors.Is(e, azerr.ErrTableNotFound)
}
