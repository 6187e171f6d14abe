package encryption

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// Ring is a key ring in memory, a [patterns.EncryptionKeys]. It is immutable and safe for concurrent use. No
// text that it is printed as contains a key.
type Ring struct {
	current string
	keys    map[string][]byte
}

// RingOf returns a Ring of keys by their ids, of which current is the current one. Each key has 32
// random bytes, each id 1 to 29 bytes; otherwise the error is patterns.ErrBadOption.
func RingOf(current string, keys map[string][]byte) (*Ring, error) {
	r := &Ring{current, maps.Clone(keys)}
	for id, key := range keys {
		if id == "" || len(id) > 29 || len(key) != 32 {
			return nil, azerr.Errorf("%w: key ring: an id has 1 to 29 bytes, and a key 32", azerr.ErrBadOption)
		}
		r.keys[id] = append([]byte(nil), key...)
	}
	if r.keys[current] == nil {
		return nil, azerr.Errorf("%w: key ring: the current key is not among the keys", azerr.ErrBadOption)
	}
	return r, nil
}

// ReadRing reads a Ring from a file for tests and small programs. Each line is the id of a key, a space, and the key in base64; the
// first line is the current key. Keep the file from other users of the machine. The error contains no text of the file.
func ReadRing(path string) (*Ring, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, azerr.Seal(fmt.Errorf("key ring: %w", err))
	}
	defer file.Close()
	keys, current := map[string][]byte{}, ""
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		id, text, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		key, err := base64.StdEncoding.DecodeString(text)
		if err != nil || keys[id] != nil {
			return nil, azerr.Errorf("%w: key ring: line %d is not an id and a key in base64, or repeats an id", azerr.ErrBadOption, len(keys)+1)
		}
		if keys[id] = key; current == "" {
			current = id
		}
	}
	if err := lines.Err(); err != nil {
		return nil, azerr.Seal(fmt.Errorf("key ring: %w", err))
	}
	return RingOf(current, keys)
}

// Current implements [patterns.EncryptionKeys].
func (r *Ring) Current() (id string, key []byte) { return r.current, r.keys[r.current] }

// Key implements [patterns.EncryptionKeys].
func (r *Ring) Key(id string) (key []byte, ok bool) {
	key, ok = r.keys[id]
	return key, ok
}

// Format prints the number of the keys, and no key.
func (r *Ring) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "key ring with %d keys", len(r.keys)) }
