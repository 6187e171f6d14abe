package indexed

import (
	"errors"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/keys"
)

func TestNames(t *testing.T) {
	for _, name := range []string{"email", "last-name.2", "A", strings.Repeat("x", 64)} {
		if err := checkName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "e_mail", "e/mail", "é", "a b", strings.Repeat("x", 65)} {
		if err := checkName(name); !errors.Is(err, keys.ErrBadKey) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
