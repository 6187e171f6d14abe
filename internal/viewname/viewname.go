// Package viewname checks the names that begin the keys of an index's rows.
package viewname

import (
	"fmt"
	"strings"

	"github.com/azpatterns/azpatterns/keys"
)

const maxLen = 64

// Check takes 1 to 64 letters, digits, '-' and '.'. There is no "_" among them, which
// ends the name in a key: so no name with its "_" begins like another.
func Check(name string) error {
	illegal := strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '.'
	})
	if name == "" || len(name) > maxLen || illegal {
		return fmt.Errorf("name: %w: it needs 1 to %d letters, digits, '-' and '.'", keys.ErrBadKey, maxLen)
	}
	return nil
}
