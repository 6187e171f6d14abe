package table

import (
	"iter"
	"slices"

	"github.com/azpatterns/azpatterns/keys"
)

// chunkRows is the largest number of rows in a chunk. A write moves at most that many
// pointers, and the list of chunks if a chunk is split. Therefore writes in ascending,
// descending and random order are fast up to millions of rows.
const chunkRows = 256

// sorted contains rows in the order of (PartitionKey, RowKey), both compared in UTF-16 code
// units. No chunk is empty.
type sorted struct {
	chunks [][]*row
	count  int
}

func compareKeys(pa, ra, pb, rb string) int {
	if pa != pb {
		return keys.Compare(pa, pb)
	}
	return keys.Compare(ra, rb)
}

// seek returns the chunk and the index of the first row that is not before
// (partition, key), and whether that row has these keys. Past the end it
// returns the end of the last chunk.
func (s *sorted) seek(partition, key string) (chunk, index int, found bool) {
	order := func(r *row, _ struct{}) int { return compareKeys(r.partition(), r.key(), partition, key) }
	chunk, found = slices.BinarySearchFunc(s.chunks, struct{}{}, func(c []*row, z struct{}) int { return order(c[len(c)-1], z) })
	if chunk == len(s.chunks) {
		if chunk == 0 {
			return 0, 0, false
		}
		return chunk - 1, len(s.chunks[chunk-1]), false
	}
	if found {
		return chunk, len(s.chunks[chunk]) - 1, true
	}
	index, found = slices.BinarySearchFunc(s.chunks[chunk], struct{}{}, order)
	return chunk, index, found
}

func (s *sorted) get(partition, key string) *row {
	if c, i, ok := s.seek(partition, key); ok {
		return s.chunks[c][i]
	}
	return nil
}

// put stores r, and replaces the row with the same keys if one exists.
func (s *sorted) put(r *row) {
	c, i, found := s.seek(r.partition(), r.key())
	if found {
		s.chunks[c][i] = r
		return
	}
	s.count++
	if len(s.chunks) == 0 {
		s.chunks = append(s.chunks, []*row{r})
		return
	}
	if len(s.chunks[c]) < chunkRows {
		s.chunks[c] = slices.Insert(s.chunks[c], i, r)
		return
	}
	s.split(c, i, r)
}

// split inserts r into a full chunk. At both ends of the list it starts a new chunk, so
// that ascending and descending writes leave full chunks.
func (s *sorted) split(c, i int, r *row) {
	switch {
	case c == len(s.chunks)-1 && i == chunkRows:
		s.chunks = append(s.chunks, append(make([]*row, 0, chunkRows), r))
	case c == 0 && i == 0:
		s.chunks = slices.Insert(s.chunks, 0, append(make([]*row, 0, chunkRows), r))
	default:
		right := append(make([]*row, 0, chunkRows), s.chunks[c][chunkRows/2:]...)
		clear(s.chunks[c][chunkRows/2:])
		s.chunks[c] = s.chunks[c][:chunkRows/2]
		s.chunks = slices.Insert(s.chunks, c+1, right)
		if i > chunkRows/2 {
			c, i = c+1, i-chunkRows/2
		}
		s.chunks[c] = slices.Insert(s.chunks[c], i, r)
	}
}

func (s *sorted) remove(partition, key string) {
	c, i, found := s.seek(partition, key)
	if !found {
		return
	}
	s.count--
	s.chunks[c] = slices.Delete(s.chunks[c], i, i+1)
	if len(s.chunks[c]) == 0 {
		s.chunks = slices.Delete(s.chunks, c, c+1)
	}
}

// from yields the rows from (partition, key) on. The list must not change during the
// iteration.
func (s *sorted) from(partition, key string) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		c, i, _ := s.seek(partition, key)
		for ; c < len(s.chunks); c, i = c+1, 0 {
			for _, r := range s.chunks[c][i:] {
				if !yield(r) {
					return
				}
			}
		}
	}
}
