package eventual

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// envelopeVersion is the version of the messages written. Readers refuse later ones.
const envelopeVersion = 1

// envelope is the content of a message, which is stored as base64 of JSON. Exactly one
// of Body, Text and Claim is set.
type envelope struct {
	Version int             `json:"azp"`
	ID      string          `json:"id"`   // of the operation, "" if it is unknown
	Kind    string          `json:"kind"` // selects the handler
	At      time.Time       `json:"at"`   // of the Enqueue
	Body    json.RawMessage `json:"body,omitempty"`
	Text    *string         `json:"text,omitempty"`  // text of a message that Enqueue did not write
	Claim   *claim          `json:"claim,omitempty"` // the payload is in a blob

	// Free counts deliveries that do not count as attempts: the handler snoozed, or the
	// worker stopped. It is negative in the copy of a message that had attempts. Its absolute
	// value is at most maxFree.
	Free int64 `json:"free,omitempty"`

	// Trace is the header traceparent of the span that created the message. It is empty
	// without tracing.
	Trace string `json:"trace,omitempty"`

	Poison *poisonInfo `json:"poison,omitempty"`
}

// poisonInfo describes why and when a message was moved to the poison queue.
type poisonInfo struct {
	Message  string    `json:"message"` // id of the original message
	Reason   string    `json:"reason,omitempty"`
	Attempts int       `json:"attempts"`
	Inserted time.Time `json:"inserted"` // the original message, by the service's clock
	At       time.Time `json:"at"`       // of the move to the poison queue
}

// maxJSON is how many bytes of JSON fit into a message as base64.
const maxJSON = maxText / 4 * 3

// poisonRoom is reserved in each message for its trace, and for the poisonInfo that may be
// added later.
const poisonRoom = 512

// maxFree is more deliveries than any message has.
const maxFree = 1 << 30

// encode returns the text of the message for a queue.
func (e *envelope) encode(q queue) (string, error) {
	b, err := e.marshal(q)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b), nil
}

// marshal returns the JSON of the message for a queue.
func (e *envelope) marshal(q queue) ([]byte, error) {
	b, err := marshal(e)
	if err == nil {
		b = q.sign(b)
	}
	return b, err
}

// traceSize is how many bytes of JSON the trace takes.
func (e *envelope) traceSize() int {
	if e.Trace == "" {
		return 0
	}
	return len(`,"trace":""`) + len(e.Trace)
}

// marshal returns v as JSON, without the escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// errForeign means that a message was not written by Enqueue.
var errForeign = azerr.Sentinel("not written by Enqueue")

// parse decodes the text of a message of the queue. It returns errForeign if Enqueue did not
// write it. A message may come from anyone who can add one: what parse returns leads to no other
// blob than a payload, and its texts are printable.
func (q queue) parse(text string) (envelope, error) {
	var e envelope
	b := Text(text)
	if err := q.verify(b); err != nil {
		return e, err
	}
	if !bytes.HasPrefix(b, []byte(versionPrefix)) || !utf8.Valid(b) {
		return e, errForeign // Enqueue writes UTF-8; encoding/json does not check it in a RawMessage
	}
	var v struct {
		Version int `json:"azp"`
	}
	if err := json.Unmarshal(b, &v); err != nil || v.Version < 1 {
		return e, errForeign
	}
	if v.Version > envelopeVersion {
		return e, azerr.Errorf("%w: it has a later version than %d, which this worker knows", ErrBadMessage, envelopeVersion)
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return e, azerr.Errorf("%w: damaged: %w", ErrBadMessage, azerr.Seal(err))
	}
	parts := 0
	for _, set := range []bool{e.Body != nil, e.Text != nil, e.Claim != nil} {
		if set {
			parts++
		}
	}
	switch {
	case e.ID == "" && e.Text == nil, // Process does not know the id of a message that Enqueue did not write
		len(e.ID) > maxID || !azerr.IsPrintable(e.ID), checkCharacters(e.Kind) != nil, parts != 1,
		e.Free > maxFree || e.Free < -maxFree:
		return e, azerr.Errorf("%w: damaged: a member is missing or invalid", ErrBadMessage)
	case e.Claim != nil && (!e.Claim.valid() || strings.HasPrefix(e.Kind, reservedKinds)):
		return e, azerr.Errorf("%w: it names a blob that contains no payload", ErrBadMessage)
	}
	if strings.Trim(e.Trace, traceCharacters) != "" {
		e.Trace = ""
	}
	if p := e.Poison; p != nil {
		p.Reason, p.Message = truncate(azerr.Printable(p.Reason), maxReason), truncate(azerr.Printable(p.Message), maxID)
	}
	return e, nil
}

// traceCharacters are those of the header traceparent.
const traceCharacters = "0123456789abcdef-"

// versionPrefix begins the JSON of each message.
const versionPrefix = `{"azp":`

// Text returns the content of a queue message that may be encoded as base64, which is
// what Azure Functions and older SDKs write: the decoded bytes if message is base64 of
// UTF-8 text, otherwise message as it is. A plain text that happens to be base64 of
// UTF-8 text, with padding, is decoded too.
func Text(message string) []byte {
	trimmed := strings.TrimSpace(message)
	if len(trimmed) > 0 && len(trimmed)%4 == 0 {
		if b, err := base64.StdEncoding.Strict().DecodeString(trimmed); err == nil && utf8.Valid(b) {
			return b
		}
	}
	return []byte(message)
}
