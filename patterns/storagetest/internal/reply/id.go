package reply

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync/atomic"
)

var (
	idPrefix = func() (p [8]byte) {
		_, _ = rand.Read(p[:]) // never fails since Go 1.24
		return p
	}()
	idCount atomic.Uint64
)

// RequestID returns a new id in the form of a GUID, unique in this process.
func RequestID() string {
	var raw [16]byte
	copy(raw[:], idPrefix[:])
	binary.BigEndian.PutUint64(raw[8:], idCount.Add(1))
	var b [36]byte
	hex.Encode(b[:8], raw[:4])
	b[8] = '-'
	hex.Encode(b[9:13], raw[4:6])
	b[13] = '-'
	hex.Encode(b[14:18], raw[6:8])
	b[18] = '-'
	hex.Encode(b[19:23], raw[8:10])
	b[23] = '-'
	hex.Encode(b[24:], raw[10:])
	return string(b[:])
}
