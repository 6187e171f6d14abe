package wideentity

// SetBatchBytes makes t stage writes of more than n bytes, so that tests need not write
// megabytes.
func SetBatchBytes[T any](t *Table[T], n int) { t.engine.BatchBytes = n }
