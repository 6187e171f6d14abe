package reply

import (
	"net/http"
	"time"

	"github.com/google/uuid"
)

// Head sets the headers that every reply contains, and returns the new id of the request.
// asked are the headers of the request, with canonical names, and now is the time of the
// service.
func Head(h, asked http.Header, server string, now time.Time) string {
	id := uuid.NewString()
	values := [...]string{id, server, now.UTC().Format(http.TimeFormat)} // one allocation
	h["X-Ms-Request-Id"] = values[0:1:1]
	h["Server"] = values[1:2:2]
	h["Date"] = values[2:3:3]
	if v := asked["X-Ms-Version"]; len(v) > 0 {
		h["X-Ms-Version"] = v[:1:1]
	}
	if v := asked["X-Ms-Client-Request-Id"]; len(v) > 0 && len(v[0]) <= 1024 && VisibleASCII(v[0]) {
		h["X-Ms-Client-Request-Id"] = v[:1:1]
	}
	return id
}

// VisibleASCII reports whether s consists of visible ASCII characters and spaces,
// as the value of a header must.
func VisibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
