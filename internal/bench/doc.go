// Package bench compares azpatterns with the same job written by hand on aztables,
// in one run and against one and the same service: a transport that returns canned
// bytes, the same bytes over loopback HTTP, an in-process account, or Azurite. What
// is compared is the client's cost; requests are signed with a shared key throughout.
//
// The benchmarks of the package are for looking into one way; the command in
// report runs all ways of a job in turns and prints medians and ratios, which is
// the table in the README:
//
//	go run ./internal/bench/report
//
// A part of it, such as what a Store adds to transactions by hand, with requests:
//
//	go run ./internal/bench/report -only Store
package bench
