// Package bench compares azpatterns with the same job written by hand with aztables, in
// one run and with the same service: a transport that returns fixed bytes, a server that
// sends the same bytes over loopback HTTP, an in-process account, or Azurite. It compares
// the cost of the client. All requests are signed with a shared key.
//
// Use the benchmarks of this package to examine one way of doing a job. The command
// report runs all ways of a job alternately and prints medians and ratios. Its output is
// README.md, and -readme replaces the short table of the README of the module:
//
//	go run ./internal/bench/report -readme README.md > internal/bench/README.md
//
// With -only it runs some of the jobs. This compares the operations of a Store with
// transactions written by hand:
//
//	go run ./internal/bench/report -only Store
//
// The table of goals ([Rows]) has a row for each operation of each pattern. There the replies
// of an in-process account are recorded once and replayed, so that only the client costs
// anything. Only the row of the worker has a service that takes time. To add an operation,
// write a [Row] in the file of its area. What is not the cost of an operation, such as the
// size of a reply, is one of the [Figures].
package bench
