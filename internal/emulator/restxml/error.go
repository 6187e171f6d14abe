package restxml

import (
	"net/http"
	"strconv"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// An Error is a refusal in the service's own terms.
type Error = rest.Error

// Refuse makes an Error. Detail is name, value, name, value….
func Refuse(status int, code, message string, detail ...string) *Error {
	return &Error{Status: status, Code: code, Message: message, Detail: detail}
}

// The refusals that all services share, with the texts of
// https://learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes

func InvalidURI() *Error {
	return Refuse(http.StatusBadRequest, "InvalidUri", "The requested URI does not represent any resource on the server.")
}

func UnsupportedVerb() *Error {
	return Refuse(http.StatusMethodNotAllowed, "UnsupportedHttpVerb", "The resource doesn't support specified Http Verb.")
}

func InvalidInput(reason string) *Error {
	return Refuse(http.StatusBadRequest, "InvalidInput", "One of the request inputs is not valid.", "Reason", reason)
}

func InvalidXML() *Error {
	return Refuse(http.StatusBadRequest, "InvalidXmlDocument", "XML specified is not syntactically valid.")
}

func InvalidXMLValue(node, value, reason string) *Error {
	return Refuse(http.StatusBadRequest, "InvalidXmlNodeValue", "The value for one of the XML nodes is not in the correct format.",
		"XmlNodeName", node, "XmlNodeValue", value, "Reason", reason)
}

func MissingXML(node string) *Error {
	return Refuse(http.StatusBadRequest, "MissingRequiredXmlNode", "A required XML node was not specified in the request body.", "XmlNodeName", node)
}

func MissingQuery(name string) *Error {
	return Refuse(http.StatusBadRequest, "MissingRequiredQueryParameter", "A query parameter that's mandatory for this request is not specified.",
		"QueryParameterName", name)
}

func InvalidQuery(name, value, reason string) *Error {
	return Refuse(http.StatusBadRequest, "InvalidQueryParameterValue", "Value for one of the query parameters specified in the request URI is invalid.",
		"QueryParameterName", name, "QueryParameterValue", value, "Reason", reason)
}

func QueryOutOfRange(name, value string, low, high int64) *Error {
	return Refuse(http.StatusBadRequest, "OutOfRangeQueryParameterValue", "One of the query parameters specified in the request URI is outside the permissible range.",
		"QueryParameterName", name, "QueryParameterValue", value,
		"MinimumAllowed", strconv.FormatInt(low, 10), "MaximumAllowed", strconv.FormatInt(high, 10))
}

func MissingHeader(name string) *Error {
	return Refuse(http.StatusBadRequest, "MissingRequiredHeader", "An HTTP header that's mandatory for this request is not specified.", "HeaderName", name)
}

func InvalidHeader(name, value string) *Error {
	return Refuse(http.StatusBadRequest, "InvalidHeaderValue", "The value for one of the HTTP headers is not in the correct format.",
		"HeaderName", name, "HeaderValue", value)
}

func MissingLength() *Error {
	return Refuse(http.StatusLengthRequired, "MissingContentLengthHeader", "The Content-Length header was not specified.")
}

func InvalidName() *Error {
	return Refuse(http.StatusBadRequest, "InvalidResourceName", "The specified resource name contains invalid characters.")
}

func NameLength() *Error {
	return Refuse(http.StatusBadRequest, "OutOfRangeInput", "The specified resource name length is not within the permissible limits.")
}

// NotImplemented refuses what the real service can do and this one does not,
// in a way that no client mistakes for an answer of the real service.
func NotImplemented(what string) *Error {
	return Refuse(http.StatusNotImplemented, "NotImplemented", "This in-process storage account does not implement "+what+".")
}
