package logdata

// WithBlocks limits the blocks of a blob to fewer than the service allows.
func WithBlocks(o WriterOptions, n int) WriterOptions {
	o.blocks = n
	return o
}
