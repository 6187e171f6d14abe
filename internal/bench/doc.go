// Package bench compares azpatterns with the same job written by hand with aztables, in
// one run and with the same service: a transport that returns fixed bytes, a server that
// sends the same bytes over loopback HTTP, an in-process account, or Azurite. It compares
// the cost of the client. All requests are signed with a shared key.
//
// Use the benchmarks of this package to examine one way of doing a job. The command
// report runs all ways of a job alternately and prints medians and ratios, as in the
// table of the README:
//
//	go run ./internal/bench/report
//
// With -only it runs some of the jobs. This compares the operations of a Store with
// transactions written by hand:
//
//	go run ./internal/bench/report -only Store
//
// The table of goals ([Rows]) has a row for each operation of each pattern. There the replies
// of an in-process account are recorded once and replayed, so that only the client costs
// anything. To add an operation, write a [Row] in the file of its area.
package bench
