package largeentity

// SetBlock makes the blocks of streams smaller, so that tests need not write megabytes.
func SetBlock[T any](t *Table[T], size int) { t.block = size }

// SetBlocks makes streams of fewer blocks the longest ones.
func SetBlocks[T any](t *Table[T], n int) { t.blocks = n }
