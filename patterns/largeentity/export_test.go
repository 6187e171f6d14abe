package largeentity

// SetBlockSize sets the size of the blocks of streams, so that tests need not write
// megabytes.
func SetBlockSize[T any](t *Table[T], size int) { t.blockSize = size }

// SetMaxBlocks sets the largest number of blocks of a stream.
func SetMaxBlocks[T any](t *Table[T], n int) { t.maxBlocks = n }
