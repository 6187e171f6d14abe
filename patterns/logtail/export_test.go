package logtail

import "time"

// SetClock replaces the clock of l.
func SetClock[T any](l *Log[T], now func() time.Time) { l.rowKeys.now = now }
