//go:build !race

package heat_test

const raceEnabled = false
