package harness

import (
	"runtime/debug"
	"testing"
	"time"
)

// hangLimit is how long a test may go on in real time without a request. The limit of the go command is one for all
// tests of a package, so it must be much longer, and what hangs would be found much later.
const hangLimit = 2 * time.Minute

// failIfHung ends the process, with the stacks of all goroutines, if requests returns the same number for hangLimit.
// It must be called outside of virtual time.
func failIfHung(t testing.TB, requests func() int) {
	stop := onHang(requests, func() {
		debug.SetTraceback("all")
		panic(t.Name() + " has sent no request for " + hangLimit.String())
	})
	t.Cleanup(stop)
}

// onHang calls hung when progress has returned the same number for hangLimit, unless stop is called before.
func onHang(progress func() int, hung func()) (stop func()) {
	last, ticks := progress(), time.NewTicker(hangLimit)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-ticks.C:
				n := progress()
				if n == last {
					hung()
					return
				}
				last = n
			}
		}
	}()
	return func() {
		ticks.Stop()
		close(done)
	}
}
