// Package outbox keeps the rows that are derived from entities up to date: rows in the
// entity's partition in the same transaction, rows elsewhere by a transactional outbox.
// README.md in this folder describes the protocol.
//
// The path of a change is [Store.Run], which plans and commits an [Intent]; after the
// commit the writer drains the operation, that is, brings the rows elsewhere up to date.
// What a writer leaves undone, [Store.Process] completes when the operation's message
// becomes visible, and [Store.Sweep] if the message is lost.
package outbox
