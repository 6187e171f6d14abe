package table

import (
	"net/http"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// The errors of the service, with the texts of its documentation.
// https://learn.microsoft.com/rest/api/storageservices/table-service-error-codes
var (
	errInvalidInput     = request.ErrInvalidInput
	errOutOfRange       = request.ErrOutOfRange
	errNeedValue        = bad("PropertiesNeedValue", "The values are not specified for all properties in the entity.")
	errValueTooLarge    = request.ErrValueTooLarge
	errEntityTooLarge   = bad("EntityTooLarge", "The entity is larger than the maximum allowed size (1MB).")
	errTooManyProps     = bad("TooManyProperties", "The entity contains more properties than allowed. Each entity can include up to 252 properties to store data. Each entity also has 3 system properties.")
	errNameTooLong      = bad("PropertyNameTooLong", "The property name exceeds the maximum allowed length (255).")
	errNameInvalid      = bad("PropertyNameInvalid", "The property name is invalid.")
	errDuplicateProp    = bad("DuplicatePropertiesSpecified", "A property is specified more than one time.")
	errValueType        = bad("InvalidValueType", "The value specified is invalid for its type.")
	errDuplicateRow     = bad("InvalidDuplicateRow", "The batch request contains multiple changes with same row key. An entity can appear only once in a batch request.")
	errMixedPartitions  = bad("CommandsInBatchActOnDifferentPartitions", "All commands in a batch must operate on same entity group.")
	errResourceName     = bad("InvalidResourceName", "The specifed resource name contains invalid characters.")
	errQueryParam       = request.ErrQueryParam
	errTableExists      = reply.New(http.StatusConflict, "TableAlreadyExists", "The table specified already exists.")
	errTableDeleting    = reply.New(http.StatusConflict, "TableBeingDeleted", "The specified table is being deleted. Try operation later.")
	errEntityExists     = reply.New(http.StatusConflict, "EntityAlreadyExists", "The specified entity already exists.")
	errResourceNotFound = reply.New(http.StatusNotFound, "ResourceNotFound", "The specified resource does not exist.")
	errTableNotFound    = reply.New(http.StatusNotFound, "TableNotFound", "The table specified does not exist.")
	errCondition        = reply.New(http.StatusPreconditionFailed, "UpdateConditionNotSatisfied", "The update condition specified in the request was not satisfied.")
	errNotImplemented   = reply.New(http.StatusNotImplemented, "NotImplemented", "The requested operation is not implemented on the specified resource.")
	errAtom             = reply.New(http.StatusUnsupportedMediaType, "AtomFormatNotSupported", "Atom format is not supported.")
	errFormat           = reply.New(http.StatusUnsupportedMediaType, "JsonFormatNotSupported", "The requested format is not supported.")
)

func bad(code, message string) *reply.Error {
	return reply.New(http.StatusBadRequest, code, message)
}
