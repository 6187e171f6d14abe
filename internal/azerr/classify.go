package azerr

import "net/http"

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

// Classify returns the sentinel for a reply with this status and error code, nil if no
// sentinel applies. It is the only place that decides this.
func Classify(status int, code string) error {
	if kind := kinds[code]; kind != nil {
		return kind
	}
	switch status {
	case http.StatusPreconditionFailed:
		return ErrConflict
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return ErrThrottled
	case http.StatusRequestEntityTooLarge:
		return ErrTooLarge
	case http.StatusNotFound:
		if code == "" {
			return ErrNotFound
		}
	}
	return nil
}

// Definite reports whether a reply with this status and error code proves what became
// of the request: it was carried out, or refused. ServerBusy is a refusal. After any
// other 5xx, 501 excepted, and after 408 the request may have been carried out.
func Definite(status int, code string) bool {
	return status < 500 && status != http.StatusRequestTimeout ||
		status == http.StatusNotImplemented || code == ServerBusy
}

// NewWrite is [New] for a request that writes. If the request may have been carried out,
// Unsure is set, and an error without another sentinel matches [ErrOutcomeUnknown].
func NewWrite(op string, err error) *Error {
	e := New(op, err)
	e.Unsure = e.Status == 0 || !Definite(e.Status, e.Code)
	if e.Unsure && e.Kind == nil {
		e.Kind = ErrOutcomeUnknown
	}
	return e
}
