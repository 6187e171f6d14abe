package table

import (
	"net/http"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

const stream = ";streaming=true;charset=utf-8"

var (
	mediaTypes = [...][]string{
		minimalMetadata: {"application/json;odata=minimalmetadata" + stream},
		noMetadata:      {"application/json;odata=nometadata" + stream},
		fullMetadata:    {"application/json;odata=fullmetadata" + stream},
	}
	errorType = mediaTypes[minimalMetadata]
)

// levelOf returns the metadata level that the client accepts.
// https://learn.microsoft.com/rest/api/storageservices/payload-format-for-table-service-operations
func levelOf(accept string) (level, *reply.Error) {
	switch accept {
	case "", "*/*", "application/json;odata=minimalmetadata":
		return minimalMetadata, nil
	case "application/json;odata=nometadata":
		return noMetadata, nil
	case "application/json;odata=fullmetadata":
		return fullMetadata, nil
	}
	atom := false
	for part := range strings.SplitSeq(accept, ",") {
		kind, params, _ := strings.Cut(strings.ToLower(part), ";")
		switch strings.TrimSpace(kind) {
		case "application/json":
			return levelParam(params)
		case "*/*", "application/*":
			return minimalMetadata, nil
		case "application/atom+xml":
			atom = true
		}
	}
	if atom {
		return 0, errAtom
	}
	return 0, errFormat
}

func levelParam(params string) (level, *reply.Error) {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.TrimSpace(name) != "odata" {
			continue
		}
		switch strings.TrimSpace(value) {
		case "minimalmetadata":
			return minimalMetadata, nil
		case "nometadata":
			return noMetadata, nil
		case "fullmetadata":
			return fullMetadata, nil
		}
		return 0, errFormat
	}
	return minimalMetadata, nil
}

// checkContent refuses a body in a format other than JSON.
func checkContent(h http.Header) *reply.Error {
	c := h["Content-Type"]
	if len(c) == 0 || c[0] == "" || c[0] == "application/json" {
		return nil
	}
	kind, _, _ := strings.Cut(strings.ToLower(c[0]), ";")
	switch strings.TrimSpace(kind) {
	case "application/json":
		return nil
	case "application/atom+xml":
		return errAtom
	}
	return errFormat
}
