package wideentity

import "time"

// SetBatchBytes makes t stage writes of more than n bytes, so that tests need not write
// megabytes.
func SetBatchBytes[T any](t *Table[T], n int) { t.engine.BatchBytes = n }

// SetOld makes every row of t old enough for a sweep.
func SetOld[T any](t *Table[T]) {
	t.engine.Age = func(time.Time) time.Duration { return 1 << 62 }
}
