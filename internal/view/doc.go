// Package view computes the rows that are derived from primary entities, and the
// writes that bring stored rows up to date with them.
//
// A primary is an entity that the caller writes. A [View] is a pure function from a
// primary to the rows that it implies: copies of it under other keys, memberships in
// lists, and properties merged into the rows of other entities. A [Set] is all views of
// one table. [Set.Derive] returns the rows of one version of a primary, [Differences]
// compares two versions.
//
// A derived row is local if it is in the primary's table and partition: it changes in
// the primary's transaction; see [LocalRow]. All other rows are remote. Each of them
// is brought up to date on its own, after the transaction, by a [Claim]: what one
// primary implies for one row. A [Target] carries out claims, usually a [RemoteTable].
//
// The package does not schedule anything. When a remote row is reserved, read and
// written is the business of package outbox.
package view
