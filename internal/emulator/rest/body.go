package rest

import (
	"io"
	"net/http"
	"strconv"
)

// firstRead is how much memory a body is trusted with before it has arrived.
const firstRead = 1 << 20

// ReadBody reads the body of r, at most limit bytes of it. The slice belongs to the
// caller.
//
// It answers 413 RequestBodyTooLarge above the limit, before reading where
// the length was declared, and 400 InvalidInput where the body does not have
// that length.
func ReadBody(r *http.Request, limit int64) ([]byte, *Error) {
	declared := r.ContentLength
	switch {
	case declared > limit:
		return nil, TooLarge(limit)
	case declared == 0, declared < 0 && r.Body == nil:
		return nil, nil
	case r.Body == nil:
		return nil, wrongLength()
	case declared < 0:
		b, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
		if int64(len(b)) > limit {
			return nil, TooLarge(limit)
		}
		if err != nil {
			return nil, wrongLength()
		}
		return b, nil
	}
	b := make([]byte, 0, min(declared, firstRead))
	for int64(len(b)) < declared {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(declared, 2*int64(cap(b)))), b...)
		}
		n, err := io.ReadFull(r.Body, b[len(b):cap(b)])
		if b = b[:len(b)+n]; err != nil {
			return nil, wrongLength()
		}
	}
	var more [1]byte
	if n, _ := r.Body.Read(more[:]); n > 0 {
		return nil, wrongLength()
	}
	return b, nil
}

// TooLarge refuses a body of more than limit bytes.
func TooLarge(limit int64) *Error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Code: "RequestBodyTooLarge",
		Message: "The request body is too large and exceeds the maximum permissible limit.",
		Detail:  []string{"MaxLimit", strconv.FormatInt(limit, 10)}}
}

func wrongLength() *Error {
	return &Error{Status: http.StatusBadRequest, Code: "InvalidInput", Message: "One of the request inputs is not valid.",
		Detail: []string{"Reason", "The body does not have the length that Content-Length declares."}}
}
