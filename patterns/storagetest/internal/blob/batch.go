package blob

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// Limits of https://learn.microsoft.com/rest/api/storageservices/blob-batch
const (
	maxBatch     = 256
	maxBatchBody = 4 * mib
)

// part is an operation of a batch.
type part struct {
	*request.Request
	id string // Content-ID, "" if it has none
}

// batch carries out the operations of a batch one by one: it is not atomic. A batch that is
// refused as a whole has the reply of the service: 202, and one part without a Content-ID.
//
// https://learn.microsoft.com/rest/api/storageservices/blob-batch
func (c *call) batch() *reply.Error {
	body, e := c.Body(maxBatchBody)
	if e != nil {
		return e
	}
	boundary := "batchresponse_" + uuid.NewString()
	var out bytes.Buffer
	parts, e := c.parts(body)
	if e != nil {
		c.Fail(e)
		var w reply.Recorder
		x, _ := xmlservice.Begin(&w, c.Request)
		x.Refuse(e)
		writePart(&out, boundary, "", &w)
	}
	for _, p := range parts {
		var w reply.Recorder
		if e := c.s.permit(p.Request); e != nil {
			x, _ := xmlservice.Begin(&w, p.Request)
			x.Refuse(e)
		} else {
			p.Header.Set("X-Ms-Version", c.Version)
			c.s.Serve(&w, p.Request)
		}
		writePart(&out, boundary, p.id, &w)
	}
	fmt.Fprintf(&out, "--%s--\r\n", boundary)
	c.W.Header().Set("Content-Type", "multipart/mixed; boundary="+boundary)
	c.W.WriteHeader(http.StatusAccepted)
	reply.Write(c.W, out.Bytes())
	return nil
}

// parts parses and checks the body.
func (c *call) parts(body []byte) ([]part, *reply.Error) {
	raw, e := request.SplitParts(c.Header("Content-Type"), body)
	if e != nil {
		return nil, e
	}
	if len(raw) == 0 {
		return nil, reply.InvalidInput("The batch has no operations.")
	}
	if len(raw) > maxBatch {
		return nil, reply.New(http.StatusBadRequest, "ExceedsMaxBatchRequestCount", "The batch operation exceeds maximum number of allowed subrequests.").Because("a batch has at most 256 parts")
	}
	parts := make([]part, len(raw))
	for i, p := range raw {
		kind, _, _ := strings.Cut(p.Header.Get("Content-Type"), ";")
		req, err := http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(p.Body), strings.NewReader("\r\n\r\n"))))
		if !strings.EqualFold(kind, "application/http") || err != nil || !strings.HasPrefix(req.RequestURI, "/") {
			return nil, reply.InvalidInput("A part is not a request of the type application/http with a path.")
		}
		req.URL.Scheme, req.URL.Host = c.URL.Scheme, c.URL.Host
		parts[i] = part{c.Within(req), p.Header.Get("Content-Id")}
		switch o := parts[i].Op; {
		case o != op.BlobDelete && o != op.BlobSetTier:
			return nil, reply.InvalidInput("A batch consists of Delete Blob or Set Blob Tier.")
		case o != parts[0].Op:
			return nil, reply.New(http.StatusBadRequest, "AllBatchSubRequestsShouldBeSameApi", "All batch subrequests should be the same api.").Because("a batch consists of deletes, or of changes of the tier")
		case c.Resource != "" && parts[i].Resource != c.Resource:
			return nil, reply.InvalidInput("A part is not for the container of the batch.")
		}
	}
	return parts, nil
}

// writePart writes the reply to one operation.
func writePart(out *bytes.Buffer, boundary, id string, w *reply.Recorder) {
	fmt.Fprintf(out, "--%s\r\nContent-Type: application/http\r\n", boundary)
	if id != "" {
		fmt.Fprintf(out, "Content-ID: %s\r\n", id)
	}
	res := w.Result(&http.Request{Method: http.MethodPost})
	fmt.Fprintf(out, "\r\nHTTP/1.1 %s\r\n", res.Status)
	for _, name := range slices.Sorted(maps.Keys(res.Header)) {
		value := res.Header.Get(name)
		if strings.HasPrefix(name, "X-Ms-") {
			name = strings.ToLower(name) // the JavaScript SDK compares names with case
		}
		fmt.Fprintf(out, "%s: %s\r\n", name, value)
	}
	out.WriteString("\r\n")
	_, _ = out.ReadFrom(res.Body) // it is in memory
	out.WriteString("\r\n")
}
