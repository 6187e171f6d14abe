package encryption_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/encryption"
)

var _ patterns.EncryptionKeys = (*encryption.Ring)(nil)

var secret = strings.Repeat("canary-k", 4)

func TestARingHasItsKeysAndPrintsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	line := base64.StdEncoding.EncodeToString([]byte(secret))
	assert.NoError(t, os.WriteFile(path, []byte("new "+line+"\nold "+line+"\n"), 0o600))
	given := map[string][]byte{"new": []byte(secret), "old": []byte(secret)}
	made := assert.Must(encryption.RingOf("new", given))(t)
	given["new"][0]++ // the ring has its own copy
	for _, ring := range []*encryption.Ring{made, assert.Must(encryption.ReadRing(path))(t)} {
		id, key := ring.Current()
		assert.Equal(t, id+string(key), "new"+secret)
		key, ok := ring.Key("old")
		assert.Equal(t, string(key), secret)
		assert.Equal(t, ok, true)
		_, ok = ring.Key("other")
		assert.Equal(t, ok, false)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
			assert.Equal(t, fmt.Sprintf(verb, ring), "key ring with 2 keys", verb)
		}
	}
}

func TestARingRefusesWhatIsNoKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	for name, text := range map[string]string{
		"empty": "", "no base64": "id " + secret + "!", "short": "id Y2FuYXJ5", "twice": "id " + secret + "\nid " + secret,
	} {
		assert.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := encryption.ReadRing(path)
		assert.WantError(t, err, patterns.ErrBadOption, name)
		assert.WantHidden(t, err, "canary", "Y2Fu")
	}
	_, err := encryption.ReadRing(path + "-missing")
	assert.WantError(t, err, os.ErrNotExist)
	for id, key := range map[string]string{"": secret, strings.Repeat("i", 30): secret, "id": secret + "x"} {
		_, err := encryption.RingOf(id, map[string][]byte{id: []byte(key)})
		assert.WantError(t, err, patterns.ErrBadOption)
		assert.WantHidden(t, err, "canary")
	}
	_, err = encryption.RingOf("other", map[string][]byte{"id": []byte(secret)})
	assert.WantError(t, err, patterns.ErrBadOption)
}
