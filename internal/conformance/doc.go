// Package conformance tests implementations of the Table, Queue and Blob services against their documentation. The test
// cases can be read as a specification. There are two kinds of them: conversations in raw HTTP, with the headers that the SDKs of
// other languages send, and programs that use the Go SDKs.
//
// The conversations are in the folder testdata, a file for each service; load describes the format.
//
// The tests run on storagetest, which must pass all of them, and on Azurite. For each case in which Azurite differs, the
// conversation, or the list of differences of the programs, has Azurite's reply, a quotation of the documentation and a
// link. A difference that is not listed fails the test, and so does an entry that no longer differs.
//
// The folder testdata/recorded contains facts from recordings of the live service, see TestRecordings. README.md has the figures.
//
// The folders js and py contain programs that use the packages for JavaScript and Python and run against accounts on loopback. The suites of
// public programs run from checkouts, see TestPublicPrograms.
package conformance
