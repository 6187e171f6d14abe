package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Error is a refusal as the service words it.
// https://learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes
type Error struct {
	Status  int         // HTTP status
	Code    string      // the service's error code, which SDKs branch on
	Message string      // one English sentence
	Detail  []string    // further elements of the XML form (QueryParameterName, Reason, …), as name, value pairs
	Header  http.Header // set on the answer beside the usual headers, if any
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
	b := []byte(XMLHeader + `<error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><code>`)
	b = AppendXML(b, code, false)
	b = append(b, `</code><message xml:lang="en-US">`...)
	b = AppendXML(b, full(message, requestID, now), false)
	return append(b, `</message></error>`...)
}

// StorageXMLError is the body that the Queue and Blob services answer an error with.
// detail is further elements, as name, value pairs.
func StorageXMLError(code, message, requestID string, now time.Time, detail ...string) []byte {
	b := []byte(XMLHeader + `<Error>`)
	for i, all := 0, append([]string{"Code", code, "Message", full(message, requestID, now)}, detail...); i+1 < len(all); i += 2 {
		b = append(append(append(b, '<'), all[i]...), '>')
		b = AppendXML(b, all[i+1], false)
		b = append(append(append(b, "</"...), all[i]...), '>')
	}
	return append(b, `</Error>`...)
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
	if v := r.Header["X-Ms-Client-Request-Id"]; len(v) > 0 && len(v[0]) <= 1024 && VisibleASCII(v[0]) {
		h["X-Ms-Client-Request-Id"] = v[:1:1]
	}
	return id
}

// VisibleASCII reports whether s holds nothing else, blanks apart: what the value of a
// header may.
func VisibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
