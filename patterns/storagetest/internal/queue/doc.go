// Package queue is an in-process Queue service that follows the documented service,
// including its limits and error codes
// (https://learn.microsoft.com/rest/api/storageservices/queue-service-rest-api).
//
// The caller verifies credentials. The time is that of the request, so
// testing/synctest controls visibility, expiry and the 30 seconds for which the name
// of a deleted queue is blocked. The service starts no goroutine; expired messages are
// dropped by the next request to their queue.
//
// Choices that the documentation leaves open:
//   - The limit of 64 KiB is the number of bytes of the unescaped text in UTF-8. More is 413
//     RequestBodyTooLarge, as the service replies, and not MessageTooLarge, which is only in
//     the list of error codes.
//   - A pop receipt that is no longer current is 400 PopReceiptMismatch; a deleted
//     message is 404 MessageNotFound.
//   - An update without a body keeps the text; one with an empty text clears it.
//   - Messages are returned in the order in which they became visible.
//   - A request without x-ms-version is handled as the latest version, and any
//     later version is accepted.
//
// Service statistics are refused, as on a primary endpoint. Preflight (OPTIONS) requests are
// refused.
package queue
