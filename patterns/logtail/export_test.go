package logtail

import "time"

// SetClock replaces the clock of l.
func SetClock[T any](l *Log[T], now func() time.Time) { l.rowKeys.now = now }

// SetID replaces the random ID in the row keys of l.
func SetID[T any](l *Log[T], id string) { l.rowKeys.id = id }
