package fault

import (
	"fmt"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// Key addresses one row of a table.
type Key = rest.Key

// Request is what the log keeps of one request, retries of the SDK included.
type Request struct {
	Seq     int // 1 is the first request of the transport
	Service Service
	Op      Op
	Start   time.Time

	// Resource is the table, queue or container, Name the blob.
	Resource, Name string

	// Rows are those addressed; none for a query. Without a rule that has a Where,
	// an insert and a batch name theirs once they were carried out, on the
	// in-process account only.
	Rows []Key

	// Status is the HTTP status, 0 where no answer came. A batch that failed
	// has status 202; Code and Inner are then the code and the status of the
	// operation that failed, on the in-process account only.
	Status int
	Inner  int
	Code   string // the service's error code, "" on success

	RequestBytes int64 // of the body
	ReplyBytes   int64 // of the body, as far as it was known or read

	// Rows (or messages, blobs) that the answer holds, that were looked at to
	// find them, and that were written. In-process account only.
	Returned, Scanned, Written int

	Fault string // what the script did to it, "" for nothing
	Err   error  // what the sender got in place of an answer

	Sent bool // handed to the service, which a lost or refused request is not
}

// String is one line: number, operation, resource, status, code, rows and
// bytes. It holds keys, which makes it a text for tests, not for production.
func (q Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s", q.Seq, q.Op)
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
		b.WriteString(" -> under way")
	}
	if q.Code != "" {
		fmt.Fprintf(&b, " %s", q.Code)
	}
	fmt.Fprintf(&b, " [returned %d scanned %d written %d, %d B up %d B down]", q.Returned, q.Scanned, q.Written, q.RequestBytes, q.ReplyBytes)
	if q.Fault != "" {
		fmt.Fprintf(&b, " fault %s", q.Fault)
	}
	return b.String()
}

// Log is a list of requests in the order in which they were sent.
type Log []Request

// Count is the number of requests whose operation matches pattern, as in [On]. It
// panics as On does: a count of nothing is always 0.
func (l Log) Count(pattern string) int { return len(l.Only(pattern)) }

// Only returns the requests whose operation matches pattern, as in [On]. It panics
// as On does.
func (l Log) Only(pattern string) Log {
	mustName("Only", pattern)
	var out Log
	for _, q := range l {
		if matchOp(pattern, q.Op) {
			out = append(out, q)
		}
	}
	return out
}

// Ops lists the operations.
func (l Log) Ops() []Op {
	ops := make([]Op, len(l))
	for i, q := range l {
		ops[i] = q.Op
	}
	return ops
}

// Scanned is the number of rows that the requests looked at.
func (l Log) Scanned() int {
	n := 0
	for _, q := range l {
		n += q.Scanned
	}
	return n
}

// Returned is the number of rows that the answers held.
func (l Log) Returned() int {
	n := 0
	for _, q := range l {
		n += q.Returned
	}
	return n
}

// String is one line for each request.
func (l Log) String() string {
	var b strings.Builder
	for _, q := range l {
		b.WriteString(q.String())
		b.WriteByte('\n')
	}
	return b.String()
}
