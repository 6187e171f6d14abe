//go:build !unix

package bench

import "time"

// cpuTime returns the elapsed time: the syscall package cannot measure CPU time here.
func cpuTime() time.Duration { return wallTime() }
