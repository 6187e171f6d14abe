// Package conformance tests that storagetest behaves as the documentation of the Table, Queue and Blob services
// describes. It is written as a script that can be read as a specification. The script has two parts: conversations in
// raw HTTP, with the headers that the SDKs of other languages send, and programs that use the Go SDKs.
//
// The script runs with storagetest, which has to behave exactly as it requires, and with Azurite. For each case in which
// Azurite behaves differently, the list of differences has an entry with the response of Azurite, a quotation or summary
// of the documentation, and a link. The test fails for a difference that is not listed, and for an entry that is no
// longer a difference.
//
// The folder js contains programs that use the official JavaScript packages. They run with an account on the loopback
// interface.
package conformance
