// Package conformance is one script that says what the Table, Queue and Blob services do, written from their
// documentation and readable as a specification. It has two parts: conversations in raw HTTP, with the headers that the
// SDKs of other languages send, and programs on the Go SDKs.
//
// The script runs on storagetest, which has to follow it to the letter, and on Azurite. Where Azurite does otherwise the
// list of differences has an entry with what Azurite answers, the word of the documentation and a link. A difference
// that is not listed fails, and so does an entry that no longer differs: the list stays true.
//
// Folder js holds a program on the official JavaScript packages, which runs against an account on loopback.
package conformance
