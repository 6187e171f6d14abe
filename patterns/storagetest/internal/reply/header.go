package reply

import (
	"net/http"
	"time"

	"github.com/google/uuid"
)

// echoSince is the first version whose replies repeat the id that the client assigned to the request. Recordings of
// the service show the id with this version, and none with the versions before.
const echoSince = "2019-02-02"

// Head sets the headers that every reply contains, and returns the new id of the request.
// asked are the headers of the request, with canonical names, and now is the time of the
// service.
func Head(h, asked http.Header, server string, now time.Time) string {
	id := uuid.NewString()
	values := [...]string{id, server, now.UTC().Format(http.TimeFormat)} // one allocation
	h["X-Ms-Request-Id"] = values[0:1:1]
	h["Server"] = values[1:2:2]
	h["Date"] = values[2:3:3]
	version := asked["X-Ms-Version"]
	if len(version) > 0 {
		h["X-Ms-Version"] = version[:1:1]
	}
	if v := asked["X-Ms-Client-Request-Id"]; len(v) > 0 && len(v[0]) <= 1024 && VisibleASCII(v[0]) && (len(version) == 0 || version[0] >= echoSince) {
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
