package table

import (
	"net/http"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// The refusals of the service, in the documentation's words.
// https://learn.microsoft.com/rest/api/storageservices/table-service-error-codes
var (
	errInvalidInput     = bad("InvalidInput", "One of the request inputs is not valid.")
	errOutOfRange       = bad("OutOfRangeInput", "One of the request inputs is out of range.")
	errNeedValue        = bad("PropertiesNeedValue", "The values are not specified for all properties in the entity.")
	errValueTooLarge    = bad("PropertyValueTooLarge", "The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less.")
	errEntityTooLarge   = bad("EntityTooLarge", "The entity is larger than the maximum allowed size (1MB).")
	errTooManyProps     = bad("TooManyProperties", "The entity contains more properties than allowed. Each entity can include up to 252 properties to store data. Each entity also has 3 system properties.")
	errNameTooLong      = bad("PropertyNameTooLong", "The property name exceeds the maximum allowed length (255).")
	errNameInvalid      = bad("PropertyNameInvalid", "The property name is invalid.")
	errDuplicateProp    = bad("DuplicatePropertiesSpecified", "A property is specified more than one time.")
	errValueType        = bad("InvalidValueType", "The value specified is invalid for its type.")
	errDuplicateRow     = bad("InvalidDuplicateRow", "The batch request contains multiple changes with same row key. An entity can appear only once in a batch request.")
	errMixedPartitions  = bad("CommandsInBatchActOnDifferentPartitions", "All commands in a batch must operate on same entity group.")
	errResourceName     = bad("InvalidResourceName", "The specifed resource name contains invalid characters.")
	errMethodNotPost    = bad("XMethodNotUsingPost", "The request uses X-HTTP-Method with an HTTP verb other than POST.")
	errMethodValue      = bad("XMethodIncorrectValue", "The specified X-HTTP-Method is invalid.")
	errMethodCount      = bad("XMethodIncorrectCount", "More than one X-HTTP-Method is specified.")
	errQueryParam       = bad("InvalidQueryParameterValue", "Value for one of the query parameters specified in the request URI is invalid.")
	errTableExists      = fail(http.StatusConflict, "TableAlreadyExists", "The table specified already exists.")
	errTableDeleting    = fail(http.StatusConflict, "TableBeingDeleted", "The specified table is being deleted. Try operation later.")
	errEntityExists     = fail(http.StatusConflict, "EntityAlreadyExists", "The specified entity already exists.")
	errResourceNotFound = fail(http.StatusNotFound, "ResourceNotFound", "The specified resource does not exist.")
	errTableNotFound    = fail(http.StatusNotFound, "TableNotFound", "The table specified does not exist.")
	errCondition        = fail(http.StatusPreconditionFailed, "UpdateConditionNotSatisfied", "The update condition specified in the request was not satisfied.")
	errMethod           = fail(http.StatusMethodNotAllowed, "MethodNotAllowed", "The requested method is not allowed on the specified resource.")
	errNotImplemented   = fail(http.StatusNotImplemented, "NotImplemented", "The requested operation is not implemented on the specified resource.")
	errAtom             = fail(http.StatusUnsupportedMediaType, "AtomFormatNotSupported", "Atom format is not supported.")
	errFormat           = fail(http.StatusUnsupportedMediaType, "JsonFormatNotSupported", "The requested format is not supported.")
)

func fail(status int, code, message string) *rest.Error {
	return &rest.Error{Status: status, Code: code, Message: message}
}

func bad(code, message string) *rest.Error {
	return fail(http.StatusBadRequest, code, message)
}
