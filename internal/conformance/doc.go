// Package conformance is a script of what the Table, Queue and Blob services do, written from their documentation and
// readable as a specification. It has two parts: conversations in raw HTTP, with the headers that the SDKs of other
// languages send, and programs that use the Go SDKs.
//
// The script runs on storagetest, which has to follow it exactly, and on Azurite. If Azurite differs, the list of
// differences has an entry with Azurite's answer, a quotation of the documentation and a link. A difference that is not
// listed fails the test, and so does an entry that no longer differs.
//
// The folder js contains a program that uses the official JavaScript packages and runs against an account on loopback.
package conformance
