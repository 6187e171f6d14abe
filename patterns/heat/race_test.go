//go:build race

package heat_test

// The race detector makes sync.Pool forget values.
const raceEnabled = true
