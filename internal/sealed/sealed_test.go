package sealed

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
)

type oneKey struct {
	id  string
	key []byte
}

func (k oneKey) Current() (string, []byte)    { return k.id, k.key }
func (k oneKey) Key(id string) ([]byte, bool) { return k.key, id == k.id }

var key = []byte("0123456789abcdef0123456789abcdef")

// The stored form may never change. The value was computed by another implementation of AES-GCM and HMAC.
func TestStoredFormVector(t *testing.T) {
	b := New(oneKey{"k1", key}, "people")
	at := Place{"p", "r", "Email"}
	stored := assert.Must(b.Seal(at, 1, []byte("ada@example.com")))(t)
	assert.Equal(t, hex.EncodeToString(stored), "01026b31432fd4562b92fa490860d7c6f38ab6e76b84cc618ac6cb87783c45fbe0faaa976aebb47587f05f78c0d2726f")
	kind, content, err := b.Open(at, stored)
	assert.NoError(t, err)
	assert.Equal(t, kind, 1)
	assert.Equal(t, string(content), "ada@example.com")
	id, ok := KeyID(stored)
	assert.Equal(t, id, "k1")
	assert.Equal(t, ok, true)
}

// A value is 31 bytes and the id longer than its content, at most 60; what is changed, cut or extended does not open.
func TestEveryChangedByteIsRefused(t *testing.T) {
	for _, id := range []string{"k", "a key id of twenty-nine bytes"} {
		b := New(oneKey{id, key}, "people")
		at := Place{"p", "r", "Email"}
		stored := assert.Must(b.Seal(at, 1, []byte("ada")))(t)
		assert.Equal(t, len(stored), len("ada")+31+len(id))
		if len(stored) > len("ada")+60 {
			t.Error(len(stored))
		}
		for i := range stored {
			for _, changed := range [][]byte{append(append(bytes.Clone(stored[:i]), stored[i]^1), stored[i+1:]...), stored[:i]} {
				if _, _, err := b.Open(at, changed); err != azerr.ErrSealed && err != azerr.ErrNoKey {
					t.Errorf("byte %d: %v", i, err)
				}
			}
		}
		_, _, err := b.Open(at, append(stored, 0))
		assert.Equal(t, err, azerr.ErrSealed)
	}
}

func TestWhatIsNoKeyEncryptsNothing(t *testing.T) {
	for _, k := range []oneKey{{"", key}, {"k", nil}, {"k", key[:31]}, {"an id of more than twenty-nine bytes", key}} {
		_, err := New(k, "people").Seal(Place{}, 1, nil)
		assert.Equal(t, err, azerr.ErrNoKey)
	}
}

func FuzzOpen(f *testing.F) {
	b := New(oneKey{"k1", key}, "people")
	f.Add(assert.Must(b.Seal(Place{}, 1, []byte("x")))(f))
	f.Fuzz(func(t *testing.T, stored []byte) {
		kind, content, err := b.Open(Place{}, stored)
		if err == nil {
			assert.Equal(t, string(assert.Must(b.Seal(Place{}, kind, content))(t)), string(stored))
		}
	})
}
