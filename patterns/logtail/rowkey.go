package logtail

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

// rowKeys generates the row keys of one Log. Of two keys of the same time the later one is
// lower:
//
//	2516350751999999999_9f3ac01d2e4b5a67_fffffffffffe
//	inverted ticks      ID of the Log    inverted count of keys
//
// The ID is 64 random bits, so that different Logs never generate the same key. The count is
// per Log and not per tick, so that it needs no memory of ticks and entries may have times
// in any order. Its 48 bits last 446 years at 20,000 entries a second, the target of a
// storage account.
type rowKeys struct {
	id  string
	now func() time.Time

	mu    sync.Mutex
	last  time.Time // the latest time that next used
	count uint64
}

const maxCount = 1<<48 - 1

func newRowKeys() *rowKeys {
	var id [8]byte
	rand.Read(id[:]) // never fails
	return &rowKeys{id: hex.EncodeToString(id[:]), now: time.Now}
}

// next returns the key of an entry that is appended now. Its time is that of the local
// clock, but not before the time of an earlier call.
func (k *rowKeys) next() (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	// Without the monotonic reading, which After would compare: the key contains the wall
	// clock, which can be set back.
	t := k.now().Round(0)
	if !t.After(k.last) {
		t = k.last
	}
	row, err := k.generate(t)
	if err == nil {
		k.last = t
	}
	return row, err
}

// at returns the key of an entry of time t.
func (k *rowKeys) at(t time.Time) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.generate(t)
}

func (k *rowKeys) generate(t time.Time) (string, error) {
	ticks, err := keys.InvertedTicks(t)
	if err != nil {
		return "", err
	}
	var count [8]byte
	binary.BigEndian.PutUint64(count[:], maxCount-k.count)
	k.count++
	var room [64]byte
	row := append(append(append(append(room[:0], ticks...), '_'), k.id...), '_')
	return string(hex.AppendEncode(row, count[2:])), nil // 48 bits
}

const tickDigits = 19

// timeOf returns the time in a row key: its first 19 digits. It ignores the rest, which only
// makes the key unique, so that rows of other writers are accepted too.
func timeOf(row string) (time.Time, error) {
	return keys.ParseInvertedTicks(row[:min(tickDigits, len(row))])
}
