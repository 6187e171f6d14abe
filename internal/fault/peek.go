package fault

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

const (
	// headSize is how much of a body is looked at: the head of a batch and the
	// beginning of its first operation are less.
	headSize = 1 << 10
	// bodySize is how much is looked at for the keys: no body of the Table service
	// may be larger.
	bodySize = 4 << 20
)

// operation is the beginning of an operation of a batch, up to the end of its
// address.
var operation = regexp.MustCompile(`(?m)^(?:GET|POST|PUT|PATCH|MERGE|DELETE) ([^ \r\n]+)`)

// peek finds out what the address of a request does not tell and its body does:
// the table that a batch works on, or that is to be created, and, with keys, the rows
// that an insert or a batch addresses. It returns the request to send in place of
// req.
func (q *Request) peek(req *http.Request, keys bool) *http.Request {
	var most int64
	switch keys = keys && (q.Op == TableBatch || q.Op == TableInsert); {
	case keys:
		most = bodySize
	case q.Op == TableBatch || q.Op == TableCreate:
		most = headSize
	}
	if most == 0 || req.Body == nil || req.Body == http.NoBody {
		return req
	}
	head, err := io.ReadAll(io.LimitReader(req.Body, most))
	switch q.Op {
	case TableBatch:
		q.batch(req, head, keys)
	case TableCreate:
		q.Resource = tableToCreate(head)
	case TableInsert:
		q.Rows = rowOf(head)
	}
	rest := io.Reader(req.Body)
	if err != nil {
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

// batch reads the table and, with keys, the rows of a batch.
func (q *Request) batch(req *http.Request, body []byte, keys bool) {
	for i, at := range operation.FindAllSubmatchIndex(body, -1) {
		target := string(body[at[2]:at[3]])
		if i == 0 {
			address, _, _ := strings.Cut(target, "(") // the keys may reach beyond what is looked at
			q.Resource = belowAccount(req, address)
		}
		if !keys {
			return
		}
		_, args, addressed := strings.Cut(belowAccount(req, target), "(")
		if k, ok := parseKeys(args); addressed && ok {
			q.Rows = append(q.Rows, k)
		} else if from := bytes.IndexByte(body[at[3]:], '{'); from >= 0 {
			q.Rows = append(q.Rows, rowOf(body[at[3]+from:])...)
		}
	}
}

// belowAccount is the path below the account of an address in a batch; "" where it is
// none.
func belowAccount(req *http.Request, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	path := strings.TrimPrefix(u.Path, "/")
	if pathStyle(req.URL) {
		_, path, _ = strings.Cut(path, "/")
	}
	return path
}

// rowOf is the row that an entity is, which body begins with; nil where that cannot
// be read.
func rowOf(body []byte) []Key {
	var e map[string]any
	if json.NewDecoder(bytes.NewReader(body)).Decode(&e) != nil {
		return nil // the service says what is wrong with it
	}
	partition, ok := e["PartitionKey"].(string)
	row, ok2 := e["RowKey"].(string)
	if !ok || !ok2 {
		return nil
	}
	return []Key{{Partition: partition, Row: row}}
}

func tableToCreate(head []byte) string {
	var body struct{ TableName string }
	if json.Unmarshal(head, &body) != nil {
		return "" // the service says what is wrong with it
	}
	return body.TableName
}
