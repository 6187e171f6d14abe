package txn

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
)

// BatchError is a transaction that was not carried out. Package patterns publishes it
// as its own BatchError and documents the fields there.
type BatchError struct {
	Index  int
	Op     string
	Key    keys.Key
	Code   string
	Status int
	Err    error
}

func (e *BatchError) Error() string {
	cause := strings.TrimPrefix(fmt.Sprint(e.Err), "batch: ") // the message already begins with it
	if e.Index < 0 {
		return "batch: " + cause
	}
	return fmt.Sprintf("batch: operation %d (%s): %s", e.Index, e.Op, cause)
}

// Format adds the row's key and the SDK's full text for %+v only.
func (e *BatchError) Format(f fmt.State, verb rune) {
	switch plus := verb == 'v' && f.Flag('+'); {
	case plus && e.Index < 0:
		fmt.Fprintf(f, "batch: %+v", e.Err)
	case plus:
		fmt.Fprintf(f, "batch: operation %d (%s) on %q/%q: %+v", e.Index, e.Op, e.Key.Partition, e.Key.Row, e.Err)
	default:
		io.WriteString(f, e.Error())
	}
}

// LogValue omits from logs what only %+v prints.
func (e *BatchError) LogValue() slog.Value { return azerr.LogValue(e) }

func (e *BatchError) Unwrap() error { return e.Err }

// As lets errors.As find the public type.
func (e *BatchError) As(target any) bool { return azerr.Public(e, target) }

// oneRow reports whether the transaction failed because of the one operation that the
// error names, so that the others may succeed without it.
func (e *BatchError) oneRow() bool {
	return e.Index >= 0 && e.Err != nil && !errors.Is(e, azerr.ErrOutcomeUnknown) &&
		!errors.Is(e, azerr.ErrThrottled) && !errors.Is(e, azerr.ErrTableNotFound)
}
