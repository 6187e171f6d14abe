package table

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// A continuation token contains a key of the next row, in the form of the service's tokens:
// version, length, text. Clients must treat it as opaque.

func encodeToken(key string) string {
	text := base64.URLEncoding.EncodeToString([]byte(key))
	return "1!" + strconv.Itoa(len(text)) + "!" + text
}

func decodeToken(token string) (string, bool) {
	rest, ok := strings.CutPrefix(token, "1!")
	if !ok {
		return "", false
	}
	size, text, ok := strings.Cut(rest, "!")
	if !ok || size != strconv.Itoa(len(text)) {
		return "", false
	}
	key, err := base64.URLEncoding.Strict().DecodeString(text)
	return string(key), err == nil
}
