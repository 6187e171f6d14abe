// Package reindex compares the rows that are stored for the views of a Store with those that
// its primaries imply, and corrects them.
//
// A run scans each table once, in any order, without reading any row by its key. It adds
// each part that a primary implies to a [Sketch], and subtracts each part that is stored. What
// the sketch contains afterwards are the differences, and rows that changed during the scan.
// Point reads distinguish these.
package reindex
