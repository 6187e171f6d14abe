package eventual

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// A signed message begins with
//
//	{"azp":1,"mac":"…",
//
// The signature is base64url of the HMAC-SHA256 of signedContext, the name of the queue, a zero
// byte, and the JSON of the message without the member mac. A reader without keys ignores it.
const (
	signedContext = "azpatterns message 1\x00"
	macBegin      = `"mac":"`
	macEnd        = `",`

	// minKey is the length of the shortest signing key, in bytes.
	minKey = 32
)

// signedPrefix begins the JSON of the messages that this version writes.
var signedPrefix = fmt.Appendf(nil, "%s%d,", versionPrefix, envelopeVersion)

var macEncoding = base64.RawURLEncoding

// checkKeys returns an error unless keys can be those of an option with that name. A ring without
// keys, as of a program that found none, must not mean that no signature is required.
func checkKeys(option string, keys [][]byte) error {
	if keys != nil && len(keys) == 0 {
		return azerr.Errorf("%w: %s: no key, and not nil", azerr.ErrBadOption, option)
	}
	for _, key := range keys {
		if len(key) < minKey {
			return azerr.Errorf("%w: %s: a key of less than %d bytes", azerr.ErrBadOption, option, minKey)
		}
	}
	return nil
}

// copyKeys returns a copy of a ring, which the caller may change or erase afterwards; nil for nil.
func copyKeys(keys [][]byte) [][]byte {
	keys = slices.Clone(keys)
	for i, key := range keys {
		keys[i] = bytes.Clone(key)
	}
	return keys
}

// sign returns the JSON of a message with the signature of the first key of q. Without keys it
// returns the JSON as it is.
func (q queue) sign(text []byte) []byte {
	rest, ok := bytes.CutPrefix(text, signedPrefix)
	if len(q.keys) == 0 || !ok {
		return text
	}
	mac := macEncoding.EncodeToString(q.mac(q.keys[0], text))
	return append(fmt.Appendf(nil, "%s%s%s%s", signedPrefix, macBegin, mac, macEnd), rest...)
}

// verify returns ErrBadMessage unless one of the keys of q has signed the message for this
// queue. Without keys it accepts every message.
func (q queue) verify(text []byte) error {
	if len(q.keys) == 0 {
		return nil
	}
	if mac, unsigned, ok := cutSignature(text); ok {
		for _, key := range q.keys {
			if hmac.Equal(mac, q.mac(key, unsigned)) {
				return nil
			}
		}
	}
	return azerr.Errorf("%w: no signature of this queue", ErrBadMessage)
}

// cutSignature returns the signature of a message and the JSON without it.
func cutSignature(text []byte) (mac, unsigned []byte, ok bool) {
	const n = (sha256.Size*8 + 5) / 6
	rest, ok := bytes.CutPrefix(text, append(bytes.Clone(signedPrefix), macBegin...))
	if !ok || len(rest) < n || !bytes.HasPrefix(rest[n:], []byte(macEnd)) {
		return nil, nil, false
	}
	mac, err := macEncoding.Strict().DecodeString(string(rest[:n]))
	return mac, append(bytes.Clone(signedPrefix), rest[n+len(macEnd):]...), err == nil
}

// isSigned reports whether a message has a signature, which need not be valid.
func isSigned(text string) bool {
	_, _, ok := cutSignature(Text(text))
	return ok
}

func (q queue) mac(key, unsigned []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(signedContext + queueName(q.client) + "\x00"))
	h.Write(unsigned)
	return h.Sum(nil)
}
