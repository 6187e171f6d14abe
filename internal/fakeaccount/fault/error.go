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

// lost returns the error for the sender of a lost request or of a lost reply. Like that
// of a broken socket, it does not contain which of the two happened.
func lost(o op.Op) error { return fmt.Errorf("%s: %w (%w)", o, ErrLost, syscall.ECONNRESET) }
