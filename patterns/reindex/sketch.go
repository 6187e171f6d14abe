package reindex

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"slices"
	"strings"
)

// sketch is an invertible Bloom lookup table: of two sets of any size it stores enough to
// list their difference, if that is small. The elements of one set are added, those of the
// other are subtracted, in any order. An element that is in both leaves nothing.
//
// A sketch is linear. The sketch of several key ranges is the sum of their sketches, so it
// does not matter where, or in how many runs, the elements were added.
//
// Each element is in one cell of each of three parts. An element that is alone in a cell can
// be read from it; subtracting it from its other cells may leave others alone there. That
// lists the whole difference, with high probability, if it has at most 0.8 elements per cell.
//
// https://arxiv.org/abs/1101.2245
//
// A sketch must not be used concurrently.
type sketch []cell

// cell is the sum of some elements.
type cell struct {
	Count int64  `json:",omitzero"`  // elements added, less those subtracted
	Check uint64 `json:",omitzero"`  // xor of the checksums
	Bytes []byte `json:",omitempty"` // xor of the elements, each followed by a 1, and by zeros
}

const (
	hashes      = 3
	cellsPer    = 1.5 // cells for each difference that a sketch is made for
	minimumSize = 64  // differences
)

// newSketch returns an empty sketch for up to so many differences.
func newSketch(differences int) sketch {
	return make(sketch, sizeFor(differences))
}

// sizeFor is the number of cells of a sketch for up to so many differences.
func sizeFor(differences int) int {
	return hashes * (int(float64(max(differences, minimumSize))*cellsPer)/hashes + 1)
}

// hashOf returns a hash of some texts.
func hashOf(parts ...string) uint64 {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return binary.BigEndian.Uint64(sum[:])
}

// add adds an element if sign is 1, and subtracts it if sign is -1.
func (s sketch) add(element []byte, sign int64) {
	at, check := s.cellsOf(element)
	c := cell{sign, check, append(slices.Clip(element), 1)}
	for _, i := range at {
		s[i].merge(&c)
	}
}

// cellsOf returns the cells of an element and its checksum.
func (s sketch) cellsOf(element []byte) (at [hashes]int, check uint64) {
	h := sha256.Sum256(element)
	size := len(s) / hashes
	for part := range at {
		at[part] = part*size + int(uint64(binary.LittleEndian.Uint32(h[4*part:]))*uint64(size)>>32)
	}
	return at, binary.LittleEndian.Uint64(h[16:])
}

// merge adds another sketch of the same size.
func (s sketch) merge(o sketch) {
	for i := range s {
		s[i].merge(&o[i])
	}
}

func (c *cell) merge(o *cell) {
	c.Count += o.Count
	c.Check ^= o.Check
	if more := len(o.Bytes) - len(c.Bytes); more > 0 {
		c.Bytes = append(c.Bytes, make([]byte, more)...)
	}
	subtle.XORBytes(c.Bytes, c.Bytes, o.Bytes)
}

// difference is an element that is in one of two sets.
type difference struct {
	element []byte
	sign    int64 // 1: it was added, and not subtracted; -1: the other way round
	maybe   bool  // it may be no difference, but one of a row that differs from another primary
}

// decode empties the sketch and returns the differences.
// complete is false if there are too many to distinguish all of them.
func (s sketch) decode() (all []difference, complete bool) {
	var queue []int
	for i := range s {
		for queue = append(queue, i); len(queue) > 0; queue = queue[1:] {
			d, at, ok := s.alone(queue[0])
			if !ok {
				continue
			}
			if len(all) == len(s) { // an element was added twice, which can mislead without an end
				return all, false
			}
			all = append(all, d)
			s.add(d.element, -d.sign)
			queue = append(queue, at[:]...)
		}
	}
	return all, !slices.ContainsFunc(s, func(c cell) bool { return c.Count != 0 || c.Check != 0 })
}

// alone returns the only element of a cell and its cells; ok is false if there are none or several.
func (s sketch) alone(i int) (d difference, at [hashes]int, ok bool) {
	c := &s[i]
	if c.Count != 1 && c.Count != -1 {
		return d, at, false
	}
	d = difference{element: bytes.Clone(bytes.TrimSuffix(bytes.TrimRight(c.Bytes, "\x00"), []byte{1})), sign: c.Count}
	at, check := s.cellsOf(d.element)
	return d, at, check == c.Check && slices.Contains(at[:], i)
}
