package sdkerr

import (
	"fmt"
	"net/http"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns/types"
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
	"ResourceNotFound":            azerr.ErrNotFound,
	"EntityNotFound":              azerr.ErrNotFound,
	"TableNotFound":               azerr.ErrTableNotFound,
	"TableBeingDeleted":           azerr.ErrTableNotFound,
	"EntityAlreadyExists":         azerr.ErrExists,
	"TableAlreadyExists":          azerr.ErrExists,
	"UpdateConditionNotSatisfied": azerr.ErrConflict,
	"ConditionNotMet":             azerr.ErrConflict,
	ServerBusy:                    azerr.ErrThrottled,
	"TooManyRequests":             azerr.ErrThrottled,
	"EntityTooLarge":              azerr.ErrTooLarge,
	"PropertyValueTooLarge":       azerr.ErrTooLarge,
	"KeyValueTooLarge":            azerr.ErrTooLarge,
	"TooManyProperties":           azerr.ErrTooLarge,
	"PropertyLimitExceeded":       azerr.ErrTooLarge,
	"RequestBodyTooLarge":         azerr.ErrTooLarge,
	"ContentLengthExceeded":       azerr.ErrTooLarge,

	// Queues.
	"QueueNotFound":      azerr.ErrQueueNotFound,
	"QueueBeingDeleted":  azerr.ErrQueueNotFound,
	"QueueAlreadyExists": azerr.ErrExists,
	"MessageNotFound":    azerr.ErrMessageLost,
	"PopReceiptMismatch": azerr.ErrMessageLost,
	"MessageTooLarge":    azerr.ErrTooLarge,

	// Blobs.
	"BlobNotFound":           azerr.ErrNotFound,
	"BlobAlreadyExists":      azerr.ErrExists,
	"ContainerNotFound":      azerr.ErrContainerNotFound,
	"ContainerBeingDeleted":  azerr.ErrContainerNotFound,
	"ContainerAlreadyExists": azerr.ErrExists,
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
		return azerr.ErrBadReply
	}
	if kind := kinds[code]; kind != nil {
		return kind
	}
	switch {
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		return azerr.ErrThrottled
	case status == http.StatusRequestEntityTooLarge:
		return azerr.ErrTooLarge
	case code == "":
		return azerr.ErrBadReply
	case status == http.StatusPreconditionFailed:
		return azerr.ErrConflict
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
// Unsure is set, and an error without another sentinel than [azerr.ErrBadReply] matches
// [azerr.ErrOutcomeUnknown].
func NewWrite(op string, err error) *types.Error {
	e := New(op, err)
	e.Unsure = e.Status == 0 || !Definite(e.Status, e.Code)
	switch {
	case !e.Unsure:
	case e.Kind == azerr.ErrBadReply:
		e.Err = fmt.Errorf("%w: %w", azerr.ErrBadReply, e.Err)
		fallthrough
	case e.Kind == nil:
		e.Kind = azerr.ErrOutcomeUnknown
	}
	return e
}
