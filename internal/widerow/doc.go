// Package widerow stores an entity in several rows of one partition, which change
// together: a head, and parts that have the properties. It knows nothing of Go types
// beyond their codec. Package wideentity documents the rows and is the typed form of
// [Table].
//
// The head names the parts and the version of each. Every write changes the head under
// its ETag, in one transaction with the parts that change, so the head alone proves what
// became of a write whose response was lost: its versions are the stamps of [txn].
//
// A write that is too large for one transaction is staged. Its parts are inserted in rows
// of their own, next to those that they replace, in as many transactions as it takes;
// then one transaction makes the head point to them; then the rows that it pointed to
// before are deleted. The first transaction also inserts a marker. The transaction that
// changes the head deletes it, under its ETag. As long as the marker exists, the staged
// rows belong to a write that may be in progress. A sweep that deletes the marker prevents
// the head from ever pointing to the rows. So a staged row without a marker, to which no
// head points, is garbage.
//
// The transaction that changes the head also deletes the rows in place that are replaced.
// So a row in place is always current and can be read without the head.
package widerow
