package storagetest

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// Request is an entry of the log. Each try of the SDK is a request and has its own entry.
type Request struct {
	Seq     int    // 1 is the first request of the account
	Service string // "Table", "Queue" or "Blob"
	Op      string // "Table.Insert"
	Start   time.Time
	Region  Region // Primary, or Secondary for the address of the secondary

	// Resource is the table, queue or container, Name the blob.
	Resource, Name string

	// Rows are the keys of the rows that the request addresses, empty for a query.
	Rows []keys.Key

	// Status is the HTTP status, 0 without a reply. A batch that failed has status
	// 202; Code and Inner are then the code and the status of the operation that
	// failed.
	Status int
	Inner  int
	Code   string // the error code, "" on success

	RequestBytes int64 // of the body
	ReplyBytes   int64 // of the body, as far as it is declared or was read

	Returned int // rows, messages or blobs in the reply
	Scanned  int // examined to find them
	Written  int // inserted, changed or deleted

	// Warnings are what the service may refuse. Each one has the table, the keys, the property or parameter, and the rule.
	Warnings []string

	Fault string // the effects of rules, "" for none
	Err   error  // the error that the sender received instead of a reply
	Sent  bool   // it reached the service, unlike a lost or refused request
}

// record adds what the service reports, and the reply.
func (q *Request) record(result *request.Result, res *http.Response) {
	q.Status = res.StatusCode
	q.ReplyBytes = max(res.ContentLength, 0)
	q.Returned, q.Scanned, q.Written = result.Returned, result.Scanned, result.Written
	q.Code, q.Warnings = result.Code, result.Warnings
	if q.Code == "" {
		q.Code = res.Header.Get("X-Ms-Error-Code")
	}
	if result.Status != 0 && result.Status != res.StatusCode {
		q.Inner = result.Status
	}
}

// String returns one line: number, operation, resource, status, code, rows and bytes.
// It contains keys, so it is for tests, not for production logs.
func (q Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s", q.Seq, q.Op)
	if q.Region == Secondary {
		b.WriteString(" secondary")
	}
	if q.Resource != "" {
		fmt.Fprintf(&b, " %s", q.Resource)
	}
	if q.Name != "" {
		fmt.Fprintf(&b, "/%s", q.Name)
	}
	switch len(q.Rows) {
	case 0:
	case 1:
		fmt.Fprintf(&b, " (%q, %q)", q.Rows[0].Partition, q.Rows[0].Row)
	default:
		fmt.Fprintf(&b, " (%q, %q …) %d rows", q.Rows[0].Partition, q.Rows[0].Row, len(q.Rows))
	}
	switch {
	case q.Status != 0:
		fmt.Fprintf(&b, " -> %d", q.Status)
		if q.Inner != 0 {
			fmt.Fprintf(&b, " of which %d", q.Inner)
		}
	case q.Err != nil:
		fmt.Fprintf(&b, " -> %v", q.Err)
	default:
		b.WriteString(" -> in progress")
	}
	if q.Code != "" {
		fmt.Fprintf(&b, " %s", q.Code)
	}
	fmt.Fprintf(&b, " [returned %d scanned %d written %d, %d B up %d B down]", q.Returned, q.Scanned, q.Written, q.RequestBytes, q.ReplyBytes)
	for _, w := range q.Warnings {
		fmt.Fprintf(&b, " warning %s", w)
	}
	if q.Fault != "" {
		fmt.Fprintf(&b, " fault %s", q.Fault)
	}
	return b.String()
}

// Log is a list of requests in the order in which they were sent.
type Log []Request

// Log returns the requests so far, including retries by the SDK. [Options].LogLimit limits
// their number.
func (a *Account) Log() Log { return a.script().Log() }

// ResetLog empties the log.
func (a *Account) ResetLog() { a.script().ResetLog() }

// Count returns the number of requests whose operation matches pattern, as in [On]. It
// returns -1 if no operation has that name, so that a test which expects 0 does not pass by
// mistake.
func (l Log) Count(pattern string) int {
	if !op.Named(pattern) {
		return -1
	}
	return len(l.Only(pattern))
}

// Only returns the requests whose operation matches pattern, as in [On].
func (l Log) Only(pattern string) Log {
	var only Log
	for _, q := range l {
		if op.Op(q.Op).Matches(pattern) {
			only = append(only, q)
		}
	}
	return only
}

// Ops returns the operations.
func (l Log) Ops() []string {
	ops := make([]string, len(l))
	for i, q := range l {
		ops[i] = q.Op
	}
	return ops
}

// Returned returns the number of rows, messages and blobs in the replies.
func (l Log) Returned() int {
	n := 0
	for _, q := range l {
		n += q.Returned
	}
	return n
}

// Scanned returns the number of rows, messages and blobs that the requests examined.
func (l Log) Scanned() int {
	n := 0
	for _, q := range l {
		n += q.Scanned
	}
	return n
}

// String returns one line for each request.
func (l Log) String() string {
	var b strings.Builder
	for _, q := range l {
		b.WriteString(q.String())
		b.WriteByte('\n')
	}
	return b.String()
}
