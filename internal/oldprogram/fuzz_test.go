package oldprogram

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
)

// FuzzAChangeOfOneField takes types, values and the change from the bytes of the fuzzer, as far as they reach.
func FuzzAChangeOfOneField(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(seed, []byte("the old program"))
	}
	f.Fuzz(func(t *testing.T, types uint64, choices []byte) {
		harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
			p := generate(types % 1000) // reflect never frees types
			w := newWorld(t, b)
			e := assert.Must(p.edit(w.client))(t)
			r := rand.New(&byteSource{choices, rand.NewPCG(types, 1)})
			key := keys.Key{Partition: "p", Row: "row"}
			foreign := r.IntN(2) == 0
			w.write(t, r, p, key, foreign)
			assert.NoError(t, w.tableCase(t, r, p, e, key, foreign))
		})
	})
}

// byteSource is a source of numbers that begins with given bytes.
type byteSource struct {
	first []byte
	then  rand.Source
}

func (s *byteSource) Uint64() uint64 {
	if len(s.first) < 2 {
		return s.then.Uint64()
	}
	// IntN uses the upper bits.
	x := uint64(binary.LittleEndian.Uint16(s.first)) << 48
	s.first = s.first[2:]
	return x | s.then.Uint64()>>16
}
