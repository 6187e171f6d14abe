package storagetest

import (
	"fmt"
	"net/http"
	"strings"
)

// checkHeader returns the error of net/http for a header that it refuses to send: a name
// that is not a token of RFC 9110, or a value with a control character.
func checkHeader(h http.Header) error {
	for name, values := range h {
		if !isToken(name) {
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

func isToken(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-':
		case strings.IndexByte("!#$%&'*+.^_`|~", c) < 0:
			return false
		}
	}
	return name != ""
}
