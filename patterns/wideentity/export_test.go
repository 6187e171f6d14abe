package wideentity

// SetBatchBytes makes t stage what is larger than n, so that tests need not write
// megabytes.
func SetBatchBytes[T any](t *Table[T], n int) { t.batchBytes = n }
