// Package queue is an in-process Queue service: an http.Handler that follows the
// documented service, its limits and error codes included
// (https://learn.microsoft.com/rest/api/storageservices/queue-service-rest-api).
//
// It knows nothing of authentication, accounts or injected faults: a mount takes
// the account off the path (/queue1/messages) and checks who is asking. Time
// comes from time.Now, so testing/synctest moves visibility, expiry and the 30
// seconds of a name that is being deleted. It starts no goroutine; what has
// expired is dropped by the next request for its queue.
//
// Where the texts leave a choice:
//   - A text of more than 64 KiB is 400 MessageTooLarge, as the list of error
//     codes has it; a body that no escaped 64 KiB text can fill is 413
//     RequestBodyTooLarge. The size is that of the text in UTF-8, unescaped.
//   - A pop receipt that is no longer current is 400 PopReceiptMismatch; a message
//     that is gone is 404 MessageNotFound.
//   - An update without a body keeps the text; one with an empty text clears it.
//   - Messages come in the order in which they became visible.
//   - A request without x-ms-version is served as the latest version, and any
//     later version is taken.
//
// Service statistics are refused as on a primary endpoint; a preflight (OPTIONS)
// request is refused.
package queue
