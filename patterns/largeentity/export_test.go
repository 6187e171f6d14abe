package largeentity

// SetBlock makes the blocks of streams smaller, so that tests need not write megabytes.
func SetBlock[T any](t *Table[T], size int) { t.block = size }
