package keys_test

import (
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
)

// Blind texts are parts of stored keys, so these may never change.
func TestBlindVectors(t *testing.T) {
	secret := []byte("0123456789abcdef")
	assert.Equal(t, assert.Must(keys.Blind(secret, "ada@example.com", 0))(t), "d5db3cfc204a063bb7025e4652829ede")
	assert.Equal(t, assert.Must(keys.Blind(secret, "ada@example.com", 1000))(t), "355")
}

func TestBlindRefusesAShortSecretAndOneBucket(t *testing.T) {
	for buckets, secret := range map[int]string{0: "0123456789abcde", 1: "0123456789abcdef", -1: "0123456789abcdef"} {
		_, err := keys.Blind([]byte(secret), "ada@example.com", buckets)
		assert.WantError(t, err, keys.ErrBadKey)
		assert.WantHidden(t, err, "ada", "012345")
	}
}

func TestALayoutRefusesAnEncryptedField(t *testing.T) {
	type person struct {
		Email string `table:"Mail,omitempty,encrypted"`
	}
	_, err := keys.NewLayout[person](nil)
	assert.WantError(t, err, keys.ErrBadKey)
}
