package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// headSize is how much of a body is looked at: the head of a batch and the
// beginning of its first operation are less.
const headSize = 1 << 10

// operation is the beginning of the first operation of a batch, up to the end of
// its table's name.
var operation = regexp.MustCompile(`(?m)^(?:GET|POST|PUT|PATCH|MERGE|DELETE) ([^ (?\r\n]+)`)

// peek finds out what the address of a request does not tell and its body does:
// the table that a batch works on, or that is to be created. It returns the
// request to send in place of req.
func (q *Request) peek(req *http.Request) *http.Request {
	if q.Op != TableBatch && q.Op != TableCreate || req.Body == nil || req.Body == http.NoBody {
		return req
	}
	head := make([]byte, headSize)
	n, err := io.ReadFull(req.Body, head)
	head = head[:n]
	if q.Op == TableBatch {
		q.Resource = tableOfBatch(req, head)
	} else {
		q.Resource = tableToCreate(head)
	}
	rest := io.Reader(req.Body)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		rest = broken{err} // a reader need not say it again
	}
	out := new(http.Request)
	*out = *req
	out.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), rest), req.Body}
	return out
}

// broken is the rest of a body that could not be read.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

func tableOfBatch(req *http.Request, head []byte) string {
	found := operation.FindSubmatch(head)
	if found == nil {
		return ""
	}
	u, err := url.Parse(string(found[1]))
	if err != nil {
		return ""
	}
	path := strings.TrimPrefix(u.Path, "/")
	if pathStyle(req.URL) {
		_, path, _ = strings.Cut(path, "/")
	}
	return path
}

func tableToCreate(head []byte) string {
	var body struct{ TableName string }
	if json.Unmarshal(head, &body) != nil {
		return "" // the service says what is wrong with it
	}
	return body.TableName
}
