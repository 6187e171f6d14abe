package reindex

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/gob"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// Sketch is an invertible Bloom lookup table: of two sets of any size it stores enough to
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
// A Sketch must not be used concurrently.
type Sketch struct{ cells []cell }

// cell is the sum of some elements.
type cell struct {
	Count  int64  // elements added, less those subtracted
	Check  uint64 // xor of the checksums
	Length uint64 // xor of the lengths
	Bytes  []byte // xor of the elements, each followed by zeros
}

const (
	hashes      = 3
	cellsPer    = 1.5 // cells for each difference that a sketch is made for
	minimumSize = 64  // differences
)

// NewSketch returns an empty sketch for up to so many differences.
func NewSketch(differences int) *Sketch {
	part := int(float64(max(differences, minimumSize))*cellsPer)/hashes + 1
	return &Sketch{make([]cell, hashes*part)}
}

// digest is where an element is in a sketch.
type digest struct {
	at    [hashes]uint32
	check uint64
}

func digestOf(element []byte) digest {
	h := sha256.Sum256(element)
	var d digest
	for i := range d.at {
		d.at[i] = binary.LittleEndian.Uint32(h[4*i:])
	}
	d.check = binary.LittleEndian.Uint64(h[16:])
	return d
}

// index returns the cell of d in one of the parts.
func (s *Sketch) index(d *digest, part int) int {
	size := len(s.cells) / hashes
	return part*size + int(uint64(d.at[part])*uint64(size)>>32)
}

// Add adds an element if sign is 1, and subtracts it if sign is -1.
func (s *Sketch) Add(element []byte, sign int64) {
	d := digestOf(element)
	s.add(element, &d, sign)
}

func (s *Sketch) add(element []byte, d *digest, sign int64) {
	for part := range hashes {
		c := &s.cells[s.index(d, part)]
		c.Count += sign
		c.Check ^= d.check
		c.Length ^= uint64(len(element))
		c.xor(element)
	}
}

func (c *cell) xor(b []byte) {
	if more := len(b) - len(c.Bytes); more > 0 {
		c.Bytes = append(c.Bytes, make([]byte, more)...)
	}
	subtle.XORBytes(c.Bytes, c.Bytes, b)
}

// Merge adds another sketch of the same size to s.
func (s *Sketch) Merge(o *Sketch) error {
	if len(s.cells) != len(o.cells) {
		return errState
	}
	for i := range s.cells {
		c, b := &s.cells[i], &o.cells[i]
		c.Count += b.Count
		c.Check ^= b.Check
		c.Length ^= b.Length
		c.xor(b.Bytes)
	}
	return nil
}

// Difference is an element that is in one of two sets.
type Difference struct {
	Element []byte
	Sign    int64 // 1: it was added, and not subtracted; -1: the other way round
}

// Decode empties the sketch and returns the differences, in the order of their elements.
// complete is false if there are too many to distinguish all of them.
func (s *Sketch) Decode() (all []Difference, complete bool) {
	queue := make([]int, len(s.cells))
	for i := range queue {
		queue[i] = i
	}
	for len(queue) > 0 {
		i := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		diff, d, ok := s.alone(i)
		if !ok {
			continue
		}
		all = append(all, diff)
		s.add(diff.Element, &d, -diff.Sign)
		for part := range hashes {
			queue = append(queue, s.index(&d, part))
		}
	}
	slices.SortFunc(all, func(a, b Difference) int { return slices.Compare(a.Element, b.Element) })
	for i := range s.cells {
		if !s.cells[i].empty() {
			return all, false
		}
	}
	return all, true
}

func (c *cell) empty() bool { return c.Count == 0 && c.Check == 0 && c.Length == 0 }

// alone returns the only element of a cell; ok is false if there are none or several.
func (s *Sketch) alone(i int) (diff Difference, d digest, ok bool) {
	c := &s.cells[i]
	if c.Count != 1 && c.Count != -1 || c.Length > uint64(len(c.Bytes)) {
		return diff, d, false
	}
	element := c.Bytes[:c.Length]
	d = digestOf(element)
	size := len(s.cells) / hashes
	if d.check != c.Check || s.index(&d, i/size) != i {
		return diff, d, false
	}
	return Difference{slices.Clone(element), c.Count}, d, true
}

// MarshalBinary returns s in bytes. It never fails.
func (s *Sketch) MarshalBinary() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(s.cells)
	return b.Bytes(), err
}

// errState is the error of a state that another version or another run has stored.
var errState = azerr.Errorf("%w: a state of another run", azerr.ErrBadCursor)

// UnmarshalBinary sets s to what MarshalBinary has returned.
func (s *Sketch) UnmarshalBinary(b []byte) error {
	s.cells = nil
	if gob.NewDecoder(bytes.NewReader(b)).Decode(&s.cells) != nil || len(s.cells) == 0 || len(s.cells)%hashes != 0 {
		return errState
	}
	return nil
}

// clone returns a copy of s.
func (s *Sketch) clone() *Sketch {
	c := &Sketch{slices.Clone(s.cells)}
	for i := range c.cells {
		c.cells[i].Bytes = slices.Clone(c.cells[i].Bytes)
	}
	return c
}
