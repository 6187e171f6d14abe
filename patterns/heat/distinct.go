package heat

import (
	"math"
	"math/bits"
)

// distinct estimates how many keys a range has, within about a sixth: the HyperLogLog of Flajolet,
// Fusy, Gandouet and Meunier (2007). known is what it had before the range was divided: keys that
// are used again are counted again.
type distinct struct {
	known float64
	most  [registers]uint8 // zeros at the end of a hash, plus 1
}

const registers = 64

func (d *distinct) add(hash uint64) {
	i := hash % registers
	d.most[i] = max(d.most[i], uint8(bits.TrailingZeros64(hash/registers|1<<57))+1)
}

// count returns the number of keys, at least 1.
func (d *distinct) count() float64 {
	sum, empty := 0.0, 0.0
	for _, n := range d.most {
		sum += math.Exp2(-float64(n))
		if n == 0 {
			empty++
		}
	}
	n := 0.709 * registers * registers / sum
	if n < 2.5*registers && empty > 0 {
		n = registers * math.Log(registers/empty)
	}
	return max(n, d.known, 1)
}

func (d *distinct) merge(o *distinct) {
	d.known += o.known
	for i, n := range o.most {
		d.most[i] = max(d.most[i], n)
	}
}

// divide returns the keys of two ranges. The second has a share of them.
func (d *distinct) divide(share float64) (first, second distinct) {
	n := d.count()
	return distinct{known: (1 - share) * n}, distinct{known: share * n}
}
