package txn

import "sync"

const chunkSize = 64 << 10

var chunkPool sync.Pool // of *[]byte

// chunks is memory for the encoded rows of a transaction. It is reused by later
// transactions once this one is done.
type chunks []*[]byte

// room returns an empty slice with room for size bytes.
func (cs *chunks) room(size int64) []byte {
	if last := len(*cs) - 1; last >= 0 {
		if c := *(*cs)[last]; int64(cap(c)-len(c)) >= size {
			return c[len(c):len(c):cap(c)]
		}
	}
	c, ok := chunkPool.Get().(*[]byte)
	if !ok || int64(cap(*c)) < size {
		c = new([]byte)
		*c = make([]byte, 0, max(chunkSize, size))
	}
	*cs = append(*cs, c)
	return *c
}

// keep marks the memory that row takes, if it is in a chunk.
func (cs chunks) keep(row []byte) {
	if last := len(cs) - 1; last >= 0 && len(row) > 0 {
		if c := *cs[last]; len(c)+len(row) <= cap(c) && &c[:len(c)+1][len(c)] == &row[0] {
			*cs[last] = c[:len(c)+len(row)]
		}
	}
}

// release hands the memory to later transactions.
func (cs chunks) release() {
	for _, c := range cs {
		*c = (*c)[:0]
		chunkPool.Put(c)
	}
}
