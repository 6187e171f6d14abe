// Package format is the record of everything that this library stores: rows, queue messages, blobs, cursors and files.
//
// testdata has a file for each group of formats and each version of them, <group>.<version>.json, written by the code of
// that version and never changed afterwards. The tests read all versions, finish what an old version has left
// unfinished, and compare what the code writes now with the newest. README.md lists the formats.
package format
