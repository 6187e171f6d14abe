package keys

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
)

const minSecret = 16

// Blind returns a text that represents text in a key, for an index by a value that is stored encrypted: the
// same one for equal texts, and one that shows nothing else of them to those who do not have the secret. The
// secret has at least 16 bytes, should be 32 random ones, and is used for one index only; another length is an *Error.
//
// With 0 buckets the result is 32 hexadecimal digits, the first half of the HMAC-SHA256 of text: of the
// secret "0123456789abcdef" and the text "ada@example.com" it is d5db3cfc204a063bb7025e4652829ede.
// Who can read the index then sees which entities have equal values, and how frequent each value is. Of a value
// whose frequency is known, such as a common surname, that reveals the value.
//
// With 2 or more buckets the result is the decimal number of a bucket, the first 8 bytes of the HMAC modulo buckets: of the same
// texts and 1000 buckets it is 355. Different values then share a bucket, which hides frequencies, and a reader must
// compare the decrypted values of the entities that it finds. Such an index cannot be unique. Any other number of buckets is an *Error.
//
// Fold and trim text before: equal values have equal texts. During a change of the secret programs write a second index
// with the new one, readers query both, and the first one is removed when the second one is complete.
func Blind(secret []byte, text string, buckets int) (string, error) {
	switch {
	case len(secret) < minSecret:
		return "", &Error{Part: "Blind", Reason: BadDefinition, Offset: -1, Detail: fmt.Sprintf("a secret of %d bytes, want at least %d", len(secret), minSecret)}
	case buckets < 0 || buckets == 1:
		return "", &Error{Part: "Blind", Reason: BadDefinition, Offset: -1, Detail: fmt.Sprintf("%d buckets, want 0, or 2 or more", buckets)}
	}
	h := hmac.New(sha256.New, secret)
	h.Write([]byte("azpatterns blind 1: " + text))
	sum := h.Sum(nil)
	if buckets == 0 {
		return hex.EncodeToString(sum[:len(sum)/2]), nil
	}
	return strconv.FormatUint(binary.BigEndian.Uint64(sum)%uint64(buckets), 10), nil
}
