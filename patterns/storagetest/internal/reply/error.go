package reply

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Error is an error reply with the texts of the service.
// https://learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes
type Error struct {
	Status  int         // HTTP status
	Code    string      // the service's error code, which SDKs evaluate
	Message string      // one English sentence
	Detail  []string    // further elements of the XML form (QueryParameterName, Reason, …), as name, value pairs
	Early   bool        // the reply has neither the error code nor the version in a header
	Header  http.Header // set on the reply in addition to the usual headers, if any
}

func (e *Error) Error() string {
	return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message)
}

// New returns an Error. detail consists of name, value pairs.
func New(status int, code, message string, detail ...string) *Error {
	return &Error{Status: status, Code: code, Message: message, Detail: detail}
}

// Because returns a copy of e whose message has a further line. It contains what the service leaves out: which property, parameter or
// header broke which rule.
func (e *Error) Because(why string) *Error {
	with := *e
	with.Message += "\nstoragetest: " + why
	return &with
}

// TimeFormat is the time in error messages: UTC with 100 ns.
const TimeFormat = "2006-01-02T15:04:05.0000000Z"

// ODataError returns the JSON body of an error of the Table service.
func ODataError(code, message, requestID string, now time.Time) []byte {
	value, _ := json.Marshal(full(message, requestID, now)) // cannot fail for strings
	b := make([]byte, 0, len(value)+len(code)+72)
	b = append(b, `{"odata.error":{"code":`...)
	b = strconv.AppendQuote(b, code)
	b = append(b, `,"message":{"lang":"en-US","value":`...)
	b = append(b, value...)
	return append(b, `}}}`...)
}

// ODataXMLError returns the XML form of ODataError, which the Table service uses in replies
// to requests for access policies and service properties.
func ODataXMLError(code, message, requestID string, now time.Time) []byte {
	b := []byte(XMLHeader + `<error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><code>`)
	b = AppendXML(b, code, false)
	b = append(b, `</code><message xml:lang="en-US">`...)
	b = AppendXML(b, full(message, requestID, now), false)
	return append(b, `</message></error>`...)
}

// StorageXMLError returns the body of an error of the Queue and Blob services.
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

// Refuse sets the headers of an error reply of a service, and returns its body. odata is for the
// Table service; its XML form is for access policies and service properties.
func (e *Error) Refuse(h http.Header, odata, inXML bool, requestID string, now time.Time) []byte {
	for name, values := range e.Header {
		h[name] = values
	}
	switch {
	case !odata:
		h["Content-Type"] = []string{"application/xml"}
		h["X-Ms-Error-Code"] = []string{e.Code}
		return StorageXMLError(e.Code, e.Message, requestID, now, e.Detail...)
	case inXML:
		h["Content-Type"] = []string{"application/xml"}
		return ODataXMLError(e.Code, e.Message, requestID, now)
	}
	h["Content-Type"] = []string{"application/json;odata=minimalmetadata;streaming=true;charset=utf-8"}
	return ODataError(e.Code, e.Message, requestID, now)
}

func full(message, requestID string, now time.Time) string {
	return message + "\nRequestId:" + requestID + "\nTime:" + now.UTC().Format(TimeFormat)
}
