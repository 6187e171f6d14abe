package rest

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error is a refusal as the service words it.
// https://learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes
type Error struct {
	Status  int    // HTTP status
	Code    string // the service's error code
	Message string // one English sentence
}

func (e *Error) Error() string {
	return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message)
}

// TimeFormat is the time in error messages: UTC with 100 ns.
const TimeFormat = "2006-01-02T15:04:05.0000000Z"

// ODataError is the JSON body that the Table service answers an error with.
func ODataError(code, message, requestID string, now time.Time) []byte {
	value, _ := json.Marshal(full(message, requestID, now)) // a string always marshals
	b := make([]byte, 0, len(value)+len(code)+72)
	b = append(b, `{"odata.error":{"code":`...)
	b = strconv.AppendQuote(b, code)
	b = append(b, `,"message":{"lang":"en-US","value":`...)
	b = append(b, value...)
	return append(b, `}}}`...)
}

// ODataXMLError is the XML form of ODataError, used where the Table service
// speaks XML: access policies and service properties.
func ODataXMLError(code, message, requestID string, now time.Time) []byte {
	return xmlError(
		`<error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><code>`, code,
		`</code><message xml:lang="en-US">`, full(message, requestID, now), `</message></error>`)
}

// StorageXMLError is the body that the Queue and Blob services answer an error with.
func StorageXMLError(code, message, requestID string, now time.Time) []byte {
	return xmlError(`<Error><Code>`, code, `</Code><Message>`, full(message, requestID, now), `</Message></Error>`)
}

// AuthenticationXMLError is StorageXMLError with the reason why a credential was
// refused, which only these services tell.
func AuthenticationXMLError(code, message, detail, requestID string, now time.Time) []byte {
	var b strings.Builder
	b.WriteString(`</Message><AuthenticationErrorDetail>`)
	_ = xml.EscapeText(&b, []byte(detail)) // a strings.Builder never fails
	b.WriteString(`</AuthenticationErrorDetail></Error>`)
	return xmlError(`<Error><Code>`, code, `</Code><Message>`, full(message, requestID, now), b.String())
}

func xmlError(head, code, mid, text, tail string) []byte {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="utf-8"?>`)
	b.WriteString(head)
	_ = xml.EscapeText(&b, []byte(code)) // a strings.Builder never fails
	b.WriteString(mid)
	_ = xml.EscapeText(&b, []byte(text))
	b.WriteString(tail)
	return []byte(b.String())
}

func full(message, requestID string, now time.Time) string {
	return message + "\nRequestId:" + requestID + "\nTime:" + now.UTC().Format(TimeFormat)
}

// Head writes the headers that every answer of a service carries, and returns
// the id that it gave to the request.
func Head(h http.Header, r *http.Request, server string) string {
	id := RequestID()
	h["X-Ms-Request-Id"] = []string{id}
	h["Server"] = []string{server}
	h["Date"] = []string{time.Now().UTC().Format(http.TimeFormat)}
	if v := r.Header["X-Ms-Version"]; len(v) > 0 {
		h["X-Ms-Version"] = v[:1:1]
	}
	if v := r.Header["X-Ms-Client-Request-Id"]; len(v) > 0 && len(v[0]) <= 1024 {
		h["X-Ms-Client-Request-Id"] = v[:1:1]
	}
	return id
}
