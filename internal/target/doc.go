// Package target reads from a request to tables, queues or blobs what it is for: the account,
// the resource, the partition and the rows.
package target
