package table

import (
	"cmp"
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

// levels are the metadata levels by their names in a media type.
var levels = map[string]level{"": minimalMetadata, "minimalmetadata": minimalMetadata, "nometadata": noMetadata, "fullmetadata": fullMetadata}

// levelOf returns the metadata level that the client accepts.
// https://learn.microsoft.com/rest/api/storageservices/payload-format-for-table-service-operations
func levelOf(accept string) (level, *reply.Error) {
	refusal := errFormat
	for part := range strings.SplitSeq(cmp.Or(accept, "*/*"), ",") {
		switch kind, params := mediaType(part); kind {
		case "application/json":
			l, ok := levels[params["odata"]]
			if !ok {
				return 0, errFormat
			}
			return l, nil
		case "*/*", "application/*":
			return minimalMetadata, nil
		case "application/atom+xml":
			refusal = errAtom
		}
	}
	return 0, refusal
}

// mediaType returns the media type at the beginning of an element of a list, and its parameters.
func mediaType(text string) (kind string, params map[string]string) {
	kind, rest, _ := strings.Cut(strings.ToLower(text), ";")
	params = map[string]string{}
	for p := range strings.SplitSeq(rest, ";") {
		name, value, _ := strings.Cut(p, "=")
		params[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return strings.TrimSpace(kind), params
}

// checkContent refuses a body in a format other than JSON.
func checkContent(h http.Header) *reply.Error {
	switch kind, _ := mediaType(h.Get("Content-Type")); kind {
	case "", "application/json":
		return nil
	case "application/atom+xml":
		return errAtom
	}
	return errFormat
}
