package harness

import (
	"fmt"
	"hash/fnv"
	"testing"
)

// With the flag -short, as in the gate, a test runs in fewer modes, at fewer points and with less data. What it leaves out is
// drawn from [SeedVariable]: other runs leave out something else. Without the flag, as at night, nothing is left out.

var bothModes = []string{"plain", "accelerated"}

// modesOf returns the modes of a test on the in-process account and on Azurite. With -short each account has one of the modes,
// so that both the modes and the accounts are tested.
func modesOf(t testing.TB) (inProcess, onAzurite []string) {
	if !testing.Short() {
		return bothModes, bothModes
	}
	n := draw(t, 2)
	return bothModes[n : n+1], bothModes[1-n : 2-n]
}

// modesInProcess returns the modes of a test that runs in process only. Together, a run with -short and one with -short and
// the race detector have each mode.
func modesInProcess(t testing.TB) []string {
	if !underRace {
		return bothModes
	}
	modes, _ := modesOf(t)
	return modes
}

// Sized returns long, and short with -short: the amount of what a test stores or repeats, if what it promises does not depend on it.
func Sized(long, short int) int {
	if testing.Short() {
		return short
	}
	return long
}

// Sample returns whether to run each point, such as a request before which a process is killed, of a test that runs them all.
// With -short that is one point of every so many, the first of which is drawn.
func Sample(t testing.TB, every int) func(point int) bool {
	if !testing.Short() {
		return func(int) bool { return true }
	}
	first := draw(t, every)
	return func(point int) bool { return point%every == first }
}

// draw returns a number below n that follows from the name of the test and the seed of the run, under the race detector the next
// one. A test that fails prints the seed.
func draw(t testing.TB, n int) int {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s=%d", SeedVariable, runSeed())
		}
	})
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, runSeed(), " ", t.Name())
	drawn := h.Sum64() >> 32
	if underRace {
		drawn++
	}
	return int(drawn % uint64(n))
}
