// Package calls makes calls of the SDK several at a time and once more after a pause, and records of each what the SDK does
// not report: its attempts, the time of the service, and the trace that it belongs to.
package calls
