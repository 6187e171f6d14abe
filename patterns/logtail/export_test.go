package logtail

import "time"

// SetClock gives l another clock.
func SetClock[T any](l *Log[T], now func() time.Time) { l.writer.now = now }
