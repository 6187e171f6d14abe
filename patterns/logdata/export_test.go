package logdata

// WithBlocks lets a blob have fewer blocks than the service allows.
func WithBlocks(o Options, n int) Options {
	o.blocks = n
	return o
}
