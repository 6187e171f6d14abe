package fault

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/op"
)

// ErrLost matches the error of every request whose reply was not delivered, whether it
// was carried out or not.
var ErrLost = errors.New("the connection was lost before a reply arrived")

// lost returns the error that the sender receives if a request or its reply was lost. Like
// the error of a broken connection, it does not show which of them was lost.
func lost(o op.Op) error { return fmt.Errorf("%s: %w (%w)", o, ErrLost, syscall.ECONNRESET) }
