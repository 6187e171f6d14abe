package storagetest

import "github.com/azpatterns/azpatterns/internal/fault"

// Rule says which requests meet with what fault. It is an immutable value; every
// method returns a changed copy. These choose the requests:
//
//	func (Rule) Nth(n int) Rule                      // the n-th alone, from 1
//	func (Rule) Times(k int) Rule                    // k of them, from the first or the n-th; Forever
//	func (Rule) Resource(name string) Rule           // of one table, queue or container, in any case of letters
//	func (Rule) Where(f func(Request) bool) Rule     // for which f is true, before they are carried out
//	func (Rule) Probability(p float64) Rule          // each with probability p, by the seed
//
// f is called with a lock held: it must be quick, and must not use the account or
// its log. It sees what is asked for, the Rows of an insert and of a batch included,
// and nothing of the answer. These say what happens; a rule may have several:
//
//	func (Rule) LoseRequest() Rule                   // not carried out, *LostError
//	func (Rule) LoseReply() Rule                     // carried out, *LostError
//	func (Rule) Status(status int, code string) Rule // refused: Status(503, "ServerBusy")
//	func (Rule) Twice() Rule                         // carried out two times; the second answer
//	func (Rule) CutReply(n int64) Rule               // io.ErrUnexpectedEOF after n bytes of the answer
//	func (Rule) Delay(d time.Duration) Rule          // before it is sent; refused beyond 15 minutes, as signed too long ago
//	func (Rule) DelayReply(d time.Duration) Rule     // after it was carried out
//	func (Rule) ShortPage(n int) Rule                // Query and lists: at most n results and a token
//	func (Rule) EmptyPage() Rule                     // Query and lists: no result and a token, before each page
//	func (Rule) CutPage(n int) Rule                  // Query and lists: the page ends after n rows were looked at
//	func (Rule) BoundaryPage() Rule                  // Table.Query: the page ends where a partition ends
//	func (Rule) Late() Rule                          // Queue.Get, Queue.Peek: no message yet
//	func (Rule) Redeliver() Rule                     // Queue.Get: the next one answers the same again
//	func (Rule) String() string                      // the rule as it was written
//
// Of LoseRequest, LoseReply, Status, Twice and CutReply the last one said counts.
// Where several rules act on one request, delays add up, and of those five the
// first rule's counts. A number that makes no sense panics, as Nth(0) and Times(0) do.
type Rule = fault.Rule

// Request is what the log keeps of one request, retries of the SDK included. Its
// fields:
//
//	Seq     int       // 1 is the first request of the account
//	Service string    // "Table", "Queue" or "Blob"
//	Op      Op        // "Table.Insert"
//	Start   time.Time
//
//	Resource string   // the table, queue or container
//	Name     string   // the blob
//	Rows     []Key    // the rows addressed; none for a query
//
//	Status int        // of HTTP, 0 where no answer came; 202 of a batch that failed,
//	Inner  int        // and then this is the status of the operation that failed
//	Code   string     // the error code, "" on success
//
//	RequestBytes int64 // of the body
//	ReplyBytes   int64
//
//	Returned int      // rows, messages or blobs in the answer,
//	Scanned  int      // looked at to find them,
//	Written  int      // and written
//
//	Fault string      // what the rules did to it, "" for nothing
//	Err   error       // what the sender got in place of an answer
//	Sent  bool        // it reached the service, as a lost or refused one does not
//
// String is one line of all that. It holds keys.
type Request = fault.Request

// Op is the name of an operation: "Table.Insert". The package text lists them.
type Op = fault.Op

// Key addresses one row of a table in the log: Partition and Row.
type Key = fault.Key

// Log is a []Request in the order in which they were sent. Its methods:
//
//	func (Log) Count(pattern string) int // requests whose operation matches, as in On, which panics on a slip
//	func (Log) Only(pattern string) Log  // those
//	func (Log) Ops() []Op                // the operations
//	func (Log) Returned() int            // rows that the answers held,
//	func (Log) Scanned() int             // and rows looked at to find them
//	func (Log) String() string           // one line for each request
type Log = fault.Log

// LostError is what the sender of a lost request or of a lost reply gets: errors.As
// finds *LostError, whose field Op names the operation, and errors.Is finds
// syscall.ECONNRESET, as of a broken socket. The SDK tries such a request again.
type LostError = fault.LostError

// Forever is a number of times without end.
const Forever = fault.Forever

// On begins a rule for the operations that pattern names, for example
// "Table.Batch", "Table.*" or "*". It panics on a pattern that matches no
// operation.
func On(pattern string) Rule { return fault.On(pattern) }

// Fault adds rules. They count requests from now on. It panics on a rule that can
// never act: one without an effect (but a Where may be there to watch), and one
// whose effect suits none of its operations.
func (a *Account) Fault(rules ...Rule) { a.faults.Fault(rules...) }

// ClearFaults removes all rules.
func (a *Account) ClearFaults() { a.faults.Clear() }

// Log returns the requests so far, retries of the SDK included.
func (a *Account) Log() Log { return a.faults.Log() }

// ResetLog empties the log.
func (a *Account) ResetLog() { a.faults.ResetLog() }
