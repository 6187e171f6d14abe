package reply

import (
	"net/http"
	"strconv"
)

// The errors that all services use, with the texts of
// https://learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes

func InvalidURI(reason string) *Error {
	return New(http.StatusBadRequest, "InvalidUri", "The requested URI does not represent any resource on the server.").Because(reason)
}

func UnsupportedVerb() *Error {
	return New(http.StatusMethodNotAllowed, "UnsupportedHttpVerb", "The resource doesn't support specified Http Verb.")
}

func InvalidInput(reason string) *Error {
	return New(http.StatusBadRequest, "InvalidInput", "One of the request inputs is not valid.", "Reason", reason)
}

// InvalidXML returns the reply to a document that is not well-formed or does not match the
// schema of the service, because an element is missing, unknown, repeated or out of range.
func InvalidXML(reason string) *Error {
	return New(http.StatusBadRequest, "InvalidXmlDocument", "XML specified is not syntactically valid.", "LineNumber", "0", "LinePosition", "0", "Reason", reason).Because(reason)
}

// InvalidXMLValue returns the reply to an element whose text has not the format of its type.
func InvalidXMLValue(node, value, reason string) *Error {
	return New(http.StatusBadRequest, "InvalidXmlNodeValue", "The value for one of the XML nodes is not in the correct format.",
		"XmlNodeName", node, "XmlNodeValue", value, "Reason", reason).Because(node + ": " + reason)
}

// MissingXML returns the reply to a document without a required element.
func MissingXML(element string) *Error { return InvalidXML("There is no " + element + ".") }

// UnknownXML returns the reply to a document with an element that does not belong there.
func UnknownXML(element string) *Error {
	return InvalidXML("There is no element " + element + " here.")
}

func MissingQuery(name string) *Error {
	return New(http.StatusBadRequest, "MissingRequiredQueryParameter", "A query parameter that's mandatory for this request is not specified.",
		"QueryParameterName", name)
}

func InvalidQuery(name, value, reason string) *Error {
	return New(http.StatusBadRequest, "InvalidQueryParameterValue", "Value for one of the query parameters specified in the request URI is invalid.",
		"QueryParameterName", name, "QueryParameterValue", value).Because(name + ": " + reason)
}

func QueryOutOfRange(name, value string, low, high int64) *Error {
	return New(http.StatusBadRequest, "OutOfRangeQueryParameterValue", "One of the query parameters specified in the request URI is outside the permissible range.",
		"QueryParameterName", name, "QueryParameterValue", value,
		"MinimumAllowed", strconv.FormatInt(low, 10), "MaximumAllowed", strconv.FormatInt(high, 10))
}

func MissingHeader(name string) *Error {
	return New(http.StatusBadRequest, "MissingRequiredHeader", "An HTTP header that's mandatory for this request is not specified.", "HeaderName", name)
}

func InvalidHeader(name, value, reason string) *Error {
	return New(http.StatusBadRequest, "InvalidHeaderValue", "The value for one of the HTTP headers is not in the correct format.",
		"HeaderName", name, "HeaderValue", value).Because(name + ": " + reason)
}

func MissingLength() *Error {
	return New(http.StatusLengthRequired, "MissingContentLengthHeader", "The Content-Length header was not specified.")
}

func InvalidName(reason string) *Error {
	return New(http.StatusBadRequest, "InvalidResourceName", "The specified resource name contains invalid characters.").Because(reason)
}

func NameLength(reason string) *Error {
	return New(http.StatusBadRequest, "OutOfRangeInput", "The specified resource name length is not within the permissible limits.").Because(reason)
}

// NotImplemented returns the reply to a request that the real service supports and this one
// does not. The real service does not have this code.
func NotImplemented(what string) *Error {
	return New(http.StatusNotImplemented, "NotImplemented", "This in-process storage account does not implement "+what+".")
}

// TooLarge returns the reply to a body of more than limit bytes.
func TooLarge(limit int64) *Error {
	return New(http.StatusRequestEntityTooLarge, "RequestBodyTooLarge", "The request body is too large and exceeds the maximum permissible limit.",
		"MaxLimit", strconv.FormatInt(limit, 10))
}

// WrongLength returns the reply to a body that does not have its declared length.
func WrongLength() *Error {
	return InvalidInput("The body does not have the length that Content-Length declares.")
}
