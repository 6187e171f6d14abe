package azerr

import (
	"fmt"
	"net/http"
)

// ServerBusy is the error code of a request that the service refused because of load,
// without carrying it out.
const ServerBusy = "ServerBusy"

// kinds maps the error codes of tables, queues and blobs to sentinels. Codes that are
// not listed mean nothing more than their status.
//
// https://learn.microsoft.com/rest/api/storageservices/table-service-error-codes
// https://learn.microsoft.com/rest/api/storageservices/queue-service-error-codes
// https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes
var kinds = map[string]error{
	// Tables, and codes that the services have in common.
	"ResourceNotFound":            ErrNotFound,
	"EntityNotFound":              ErrNotFound,
	"TableNotFound":               ErrTableNotFound,
	"TableBeingDeleted":           ErrTableNotFound,
	"EntityAlreadyExists":         ErrExists,
	"TableAlreadyExists":          ErrExists,
	"UpdateConditionNotSatisfied": ErrConflict,
	"ConditionNotMet":             ErrConflict,
	ServerBusy:                    ErrThrottled,
	"TooManyRequests":             ErrThrottled,
	"EntityTooLarge":              ErrTooLarge,
	"PropertyValueTooLarge":       ErrTooLarge,
	"KeyValueTooLarge":            ErrTooLarge,
	"TooManyProperties":           ErrTooLarge,
	"PropertyLimitExceeded":       ErrTooLarge,
	"RequestBodyTooLarge":         ErrTooLarge,
	"ContentLengthExceeded":       ErrTooLarge,

	// Queues.
	"QueueNotFound":      ErrQueueNotFound,
	"QueueBeingDeleted":  ErrQueueNotFound,
	"QueueAlreadyExists": ErrExists,
	"MessageNotFound":    ErrMessageLost,
	"PopReceiptMismatch": ErrMessageLost,
	"MessageTooLarge":    ErrTooLarge,

	// Blobs.
	"BlobNotFound":           ErrNotFound,
	"BlobAlreadyExists":      ErrExists,
	"ContainerNotFound":      ErrContainerNotFound,
	"ContainerBeingDeleted":  ErrContainerNotFound,
	"ContainerAlreadyExists": ErrExists,
}

// Classify returns the sentinel for a reply that is not the success of its request, with
// this status and error code; nil if no sentinel applies. It is the only place that
// decides this.
//
// The services send an error code with every refusal, for HEAD in a header. A reply
// without one comes from something between the client and the service, for example a
// gateway, and proves nothing about the row.
func Classify(status int, code string) error {
	if IsRedirect(status) {
		return ErrBadReply
	}
	if kind := kinds[code]; kind != nil {
		return kind
	}
	switch {
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		return ErrThrottled
	case status == http.StatusRequestEntityTooLarge:
		return ErrTooLarge
	case code == "":
		return ErrBadReply
	case status == http.StatusPreconditionFailed:
		return ErrConflict
	}
	return nil
}

// Definite reports whether a reply with this status and error code proves that the
// service refused the request. ServerBusy is a refusal. After any other 5xx, 501
// excepted, and after 408 the request may have been carried out. A reply without a code, or
// a redirect, is not from the service, which may have carried out the request before.
func Definite(status int, code string) bool {
	return code != "" && !IsRedirect(status) && (status < 500 && status != http.StatusRequestTimeout ||
		status == http.StatusNotImplemented || code == ServerBusy)
}

// IsRedirect reports whether a reply with this status sends the client elsewhere. The services
// never do. Nothing that follows it may be sent: it would have the credential and the row.
func IsRedirect(status int) bool {
	return status >= http.StatusMultipleChoices && status < http.StatusBadRequest && status != http.StatusNotModified
}

// NewWrite is [New] for a request that writes. If the request may have been carried out,
// Unsure is set, and an error without another sentinel than [ErrBadReply] matches
// [ErrOutcomeUnknown].
func NewWrite(op string, err error) *Error {
	e := New(op, err)
	e.Unsure = e.Status == 0 || !Definite(e.Status, e.Code)
	switch {
	case !e.Unsure:
	case e.Kind == ErrBadReply:
		e.Err = fmt.Errorf("%w: %w", ErrBadReply, e.Err)
		fallthrough
	case e.Kind == nil:
		e.Kind = ErrOutcomeUnknown
	}
	return e
}
