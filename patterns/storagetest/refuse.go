package storagetest

import (
	"net/http"
	"time"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
	"github.com/azpatterns/azpatterns/internal/fault"
)

// refuse answers in the place of a service to a request that does not reach it.
// The detail is why a credential was refused; where the service does not tell it,
// the message does.
func refuse(w http.ResponseWriter, r *http.Request, s fault.Service, status int, code, message, detail string) {
	h := w.Header()
	id := rest.Head(h, r, "storagetest")
	now := time.Now()
	if s == fault.Table && detail != "" {
		message += "\nstoragetest: " + detail
	}
	var body []byte
	if s == fault.Table && !r.URL.Query().Has("comp") {
		h.Set("Content-Type", "application/json;odata=minimalmetadata;streaming=true;charset=utf-8")
		body = rest.ODataError(code, message, id, now)
	} else {
		h.Set("Content-Type", "application/xml")
		switch {
		case s == fault.Table:
			body = rest.ODataXMLError(code, message, id, now)
		case detail != "":
			body = rest.StorageXMLError(code, message, id, now, "AuthenticationErrorDetail", detail)
		default:
			body = rest.StorageXMLError(code, message, id, now)
		}
	}
	if s != fault.Table {
		h.Set("X-Ms-Error-Code", code)
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that went away is nobody's error
	}
}
