package fault

import (
	"fmt"
	"net/http"
	"strings"
)

// checkHeader returns the error of net/http for a header that it refuses to send: a name
// that is not a token of RFC 9110, or a value with a control character.
func checkHeader(h http.Header) error {
	for name, values := range h {
		if name == "" || strings.IndexFunc(name, notToken) >= 0 {
			return fmt.Errorf("net/http: invalid header field name %q", name)
		}
		for _, v := range values {
			for i := range len(v) {
				if v[i] < ' ' && v[i] != '\t' || v[i] == 0x7F {
					return fmt.Errorf("net/http: invalid header field value for %q", name)
				}
			}
		}
	}
	return nil
}

func notToken(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+.^_`|~", r)
}
