package azerr

import (
	"fmt"
	"strings"
)

// CheckETag returns [ErrBadETag] if etag is neither "*" nor a version: a malformed ETag
// could be sent as no condition, or end the header.
func CheckETag(etag string) error {
	if etag == "*" || isVersion(etag) {
		return nil
	}
	return ErrBadETag
}

// CheckVersion returns [ErrBadReply] if etag, which a reply contains, does not name a
// version. The caller must not use it as a condition.
func CheckVersion(etag string) error {
	if isVersion(etag) {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrBadReply, errNoVersion)
}

// ListedETag returns the ETag of a blob in a list, which has no quotes there, as it is in headers.
func ListedETag(etag string) (string, error) {
	if !strings.Contains(etag, `"`) && etag != "" {
		etag = `"` + etag + `"`
	}
	return etag, CheckVersion(etag)
}

var errNoVersion = Sentinel("an ETag that names no version")

// isVersion reports whether etag has the form "…" or W/"…" with printable ASCII characters
// other than quotes between the quotes.
//
// https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3
func isVersion(etag string) bool {
	tag, ok := strings.CutPrefix(strings.TrimPrefix(etag, "W/"), `"`)
	if !ok {
		return false
	}
	tag, ok = strings.CutSuffix(tag, `"`)
	var bad uint8
	for i := range len(tag) { // of each row that is read, so without branches
		bad |= badInVersion[tag[i]]
	}
	return ok && bad == 0
}

// badInVersion is 1 for the characters that cannot be between the quotes.
var badInVersion = func() (t [256]uint8) {
	for c := range t {
		if c < ' ' || c > '~' || c == '"' {
			t[c] = 1
		}
	}
	return t
}()
