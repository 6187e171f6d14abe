package rest

import (
	"io"
	"net/http"
)

// ReadBody reads the body of r, at most limit bytes of it.
//
// It answers 413 RequestBodyTooLarge above the limit, before reading where
// the length was declared, and 400 InvalidInput where the body does not have
// that length.
func ReadBody(r *http.Request, limit int64) ([]byte, *Error) {
	switch {
	case r.Body == nil, r.Body == http.NoBody:
		return nil, nil
	case r.ContentLength > limit:
		return nil, tooLarge
	}
	var b []byte
	var err error
	if r.ContentLength > 0 {
		b = make([]byte, r.ContentLength)
		if _, err = io.ReadFull(r.Body, b); err == nil {
			var more [1]byte
			if n, _ := r.Body.Read(more[:]); n > 0 {
				return nil, wrongLength
			}
		}
	} else {
		b, err = io.ReadAll(io.LimitReader(r.Body, limit+1))
		if int64(len(b)) > limit {
			return nil, tooLarge
		}
	}
	if err != nil {
		return nil, wrongLength
	}
	return b, nil
}

var (
	tooLarge = &Error{http.StatusRequestEntityTooLarge, "RequestBodyTooLarge",
		"The request body is too large and exceeds the maximum permissible limit."}
	wrongLength = &Error{http.StatusBadRequest, "InvalidInput",
		"The request body does not have the length that Content-Length declares."}
)
