package types

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
)

// BatchError is a transaction that was not carried out, and the operation that was the
// reason. Nothing of the transaction was applied, unless Err matches
// patterns.ErrOutcomeUnknown.
type BatchError struct {
	// Index of the operation, in the order in which they were added; -1 if the service did
	// not name one.
	Index int

	Op  string   // the kind of the operation: "insert", "replace", …
	Key keys.Key // its row

	Code   string // error code of the service, "" if refused before sending
	Status int    // HTTP status of the operation, 0 if refused before sending

	Err error // the reason
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
