// Package sealed encrypts the values of properties, and binds each to the place where it is stored.
//
// A stored value is, in bytes: the version 1; the length of the key's id; the id; a nonce of 12 bytes; the
// ciphertext of the value's type and its content; and a tag of 16 bytes. It is 31 bytes and the id longer than
// the content. The cipher is AES-256-GCM with the version, the id of the key and the [Place] as additional data.
//
// The nonce is derived from the key, the additional data and the content, by HMAC-SHA256. So what a
// program stores again is stored as before, and a machine without good random numbers, or a copy of one,
// repeats no nonce for another content. In return, who sees two versions of a row sees whether a
// property has the same content in both.
package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"hash"
	"sync"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

const (
	version   = 1
	nonceSize = 12
	keySize   = 32

	// MaxID is the longest id of a key, in bytes, with which a value is at most 60 bytes longer.
	MaxID = 29
)

// Keys is patterns.EncryptionKeys.
type Keys interface {
	Current() (id string, key []byte)
	Key(id string) (key []byte, ok bool)
}

// A Place is where a value is stored.
type Place struct{ Partition, Row, Property string }

// A Box encrypts the values of one table. It is safe for concurrent use.
type Box struct {
	keys    Keys
	table   string
	ciphers sync.Map // id to *keyCipher
}

// New returns the Box of the table with that logical name.
func New(keys Keys, table string) *Box { return &Box{keys: keys, table: table} }

// A keyCipher is what is computed once for each key.
type keyCipher struct {
	key   [keySize]byte
	aead  cipher.AEAD
	nonce sync.Pool // of hash.Hash
}

func newCipher(key []byte) *keyCipher {
	derive := func(purpose string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte("azpatterns encrypted property 1: " + purpose))
		return h.Sum(nil)
	}
	c := &keyCipher{key: [keySize]byte(key)}
	block, _ := aes.NewCipher(derive("cipher")) // the size is right
	c.aead, _ = cipher.NewGCM(block)
	nonceKey := derive("nonce")
	c.nonce.New = func() any { return hmac.New(sha256.New, nonceKey) }
	return c
}

// cipherOf returns the cipher of a key, nil if the key or its id is none that can be used.
func (b *Box) cipherOf(id string, key []byte) *keyCipher {
	if id == "" || len(id) > MaxID || len(key) != keySize {
		return nil
	}
	if c, ok := b.ciphers.Load(id); ok && subtle.ConstantTimeCompare(c.(*keyCipher).key[:], key) == 1 {
		return c.(*keyCipher)
	}
	c := newCipher(key)
	b.ciphers.Store(id, c)
	return c
}

// data appends the additional data of a value.
func (b *Box) data(dst []byte, id string, at Place) []byte {
	dst = append(dst, version)
	for _, text := range [...]string{id, b.table, at.Partition, at.Row, at.Property} {
		dst = append(binary.BigEndian.AppendUint32(dst, uint32(len(text))), text...)
	}
	return dst
}

// Seal returns a value as it is stored at a place, encrypted with the current key. The error is
// [azerr.ErrNoKey] if that is no key.
func (b *Box) Seal(at Place, kind byte, content []byte) ([]byte, error) {
	id, key := b.keys.Current()
	c := b.cipherOf(id, key)
	if c == nil {
		return nil, azerr.ErrNoKey
	}
	text := b.data(make([]byte, 0, 256), id, at)
	data := len(text)
	text = append(append(text, kind), content...)
	h := c.nonce.Get().(hash.Hash)
	h.Reset()
	h.Write(text)
	var sum [sha256.Size]byte
	nonce := h.Sum(sum[:0])[:nonceSize]
	c.nonce.Put(h)
	dst := make([]byte, 0, 2+len(id)+nonceSize+1+len(content)+c.aead.Overhead())
	dst = append(append(dst, version, byte(len(id))), id...)
	dst = append(dst, nonce...)
	return c.aead.Seal(dst, nonce, text[data:], text[:data]), nil
}

// Renew returns a value that is stored at a place, encrypted with the current key; nil if it is already, or is not encrypted. The
// errors are those of [Box.Open].
func (b *Box) Renew(at Place, stored []byte) ([]byte, error) {
	if !b.Outdated(stored) {
		return nil, nil
	}
	kind, content, err := b.Open(at, stored)
	if err != nil {
		return nil, err
	}
	return b.Seal(at, kind, content)
}

// Outdated reports whether a value, or the beginning of one, was encrypted with another key than the current one.
func (b *Box) Outdated(stored []byte) bool {
	id, ok := KeyID(stored)
	current, _ := b.keys.Current()
	return ok && id != current
}

// KeyID returns the id of the key with which a value was encrypted, false if it is no encrypted value.
func KeyID(stored []byte) (id string, ok bool) {
	if len(stored) < 2 || stored[0] != version || stored[1] == 0 || stored[1] > MaxID || len(stored) < 2+int(stored[1])+nonceSize+1 {
		return "", false
	}
	return string(stored[2 : 2+stored[1]]), true
}

// Open returns the content of a value that is stored at a place. The error is [azerr.ErrNoKey] if the
// key is missing, and [azerr.ErrSealed] for a value that was encrypted for another place or with another key, was
// changed, or is not encrypted.
func (b *Box) Open(at Place, stored []byte) (kind byte, content []byte, err error) {
	id, ok := KeyID(stored)
	if !ok {
		return 0, nil, azerr.ErrSealed
	}
	key, _ := b.keys.Key(id)
	c := b.cipherOf(id, key)
	if c == nil {
		return 0, nil, azerr.ErrNoKey
	}
	rest := stored[2+len(id):]
	content, err = c.aead.Open(nil, rest[:nonceSize], rest[nonceSize:], b.data(make([]byte, 0, 256), id, at))
	if err != nil || len(content) == 0 {
		return 0, nil, azerr.ErrSealed
	}
	return content[0], content[1:], nil
}
