package eventual

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// envelopeVersion is the form of the messages written. Readers refuse later ones.
const envelopeVersion = 1

// envelope is the JSON of a message, stored as base64. Of Body, Text and Claim there
// is one.
type envelope struct {
	Version int             `json:"azp"`
	ID      string          `json:"id"`   // of the operation
	Kind    string          `json:"kind"` // names the handler
	At      time.Time       `json:"at"`   // of the Enqueue
	Body    json.RawMessage `json:"body,omitempty"`
	Text    *string         `json:"text,omitempty"`  // the text of a message that Enqueue did not write
	Claim   *claim          `json:"claim,omitempty"` // the body is in a blob

	// Free is how many deliveries were no attempts: snoozed, or given back unbegun.
	Free int64 `json:"free,omitempty"`

	Burial *burial `json:"poison,omitempty"`
}

// burial is what a poison message tells beyond the original.
type burial struct {
	Message  string    `json:"message"` // the original's id
	Reason   string    `json:"reason,omitempty"`
	Attempts int       `json:"attempts"`
	Inserted time.Time `json:"inserted"` // the original, by the service's clock
	At       time.Time `json:"at"`       // of the burial
}

// maxJSON is how much JSON makes 64 KiB of base64.
const maxJSON = maxText / 4 * 3

// burialRoom is what is left free in a message for what a burial adds later on.
const burialRoom = 512

// encode gives the message's text, base64 of JSON: nothing in it can hurt XML.
func (e *envelope) encode() (string, error) {
	b, err := compact(e)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b), nil
}

// compact is v as JSON without the escapes that only HTML needs.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

var errNotOurs = errors.New("not written by Enqueue")

// parse reads a message's text. errNotOurs where Enqueue did not write it.
func parse(text string) (envelope, error) {
	var e envelope
	b := Text(text)
	if !bytes.HasPrefix(b, []byte(`{"azp":`)) {
		return e, errNotOurs
	}
	var v struct {
		Version int `json:"azp"`
	}
	if err := json.Unmarshal(b, &v); err != nil || v.Version < 1 {
		return e, errNotOurs
	}
	if v.Version > envelopeVersion {
		return e, fmt.Errorf("message has version %d, this worker knows %d", v.Version, envelopeVersion)
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return e, fmt.Errorf("message is damaged: %w", quietJSON(err))
	}
	parts := 0
	for _, there := range []bool{e.Body != nil, e.Text != nil, e.Claim != nil} {
		if there {
			parts++
		}
	}
	if e.ID == "" || e.Kind == "" || parts != 1 || e.Free < 0 {
		return e, errors.New("message is damaged: a member is missing")
	}
	return e, nil
}

// Text is what a queue message says: the bytes behind it where it is base64 of UTF-8
// text, as Azure Functions and older SDKs write it, and else the text as it is. The
// one plain text that it mistakes is one that happens to be base64 of UTF-8 text,
// padding and all.
func Text(message string) []byte {
	trimmed := strings.TrimSpace(message)
	if len(trimmed) > 0 && len(trimmed)%4 == 0 {
		if b, err := base64.StdEncoding.Strict().DecodeString(trimmed); err == nil && utf8.Valid(b) {
			return b
		}
	}
	return []byte(message)
}

// quietJSON is err without the values that encoding/json likes to quote.
func quietJSON(err error) error {
	var typed *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &typed):
		return fmt.Errorf("JSON: offset %d: no %v in field %q", typed.Offset, typed.Type, typed.Field)
	case errors.As(err, &syntax):
		return fmt.Errorf("JSON: offset %d: bad syntax", syntax.Offset)
	}
	return err
}
