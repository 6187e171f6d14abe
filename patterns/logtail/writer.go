package logtail

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

// writer makes row keys, each lower than the one before where the times are the
// same:
//
//	2516350751999999999_9f3ac01d2e4b5a67_fffffffffffe
//	inverted ticks      the writer       inverted count of its keys
//
// The writer is 64 random bits, so two of them never make the same key. The count
// is by writer and not by tick: it needs no memory of ticks, and entries may come
// with times in any order. Its 48 bits last 446 years at 20,000 entries a second,
// the target of a storage account.
type writer struct {
	id  string
	now func() time.Time

	mu   sync.Mutex
	last time.Time // the latest that rowNow used
	made uint64    // keys
}

const lastCount = 1<<48 - 1

func newWriter() *writer {
	var id [8]byte
	rand.Read(id[:]) // never fails
	return &writer{id: hex.EncodeToString(id[:]), now: time.Now}
}

// rowNow makes the key of an entry appended now: at the time of the system's
// clock, but never before an earlier answer.
func (w *writer) rowNow() (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// Without the monotonic reading, by which After would compare: the key is made
	// from the wall clock, and that one can be set back.
	t := w.now().Round(0)
	if !t.After(w.last) {
		t = w.last
	}
	row, err := w.next(t)
	if err == nil {
		w.last = t
	}
	return row, err
}

// rowAt makes the key of an entry of time t.
func (w *writer) rowAt(t time.Time) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.next(t)
}

func (w *writer) next(t time.Time) (string, error) {
	ticks, err := keys.InvertedTicks(t)
	if err != nil {
		return "", err
	}
	row := fmt.Sprintf("%s_%s_%012x", ticks, w.id, lastCount-w.made)
	w.made++
	return row, nil
}
