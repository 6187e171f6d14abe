package patterns_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// testKeys are keys by their ids; the last one is the current one.
type testKeys []string

func keyNamed(id string) []byte { return []byte((id + strings.Repeat("*", 32))[:32]) }

func (k testKeys) Current() (string, []byte) { return k[len(k)-1], keyNamed(k[len(k)-1]) }

func (k testKeys) Key(id string) ([]byte, bool) {
	for _, known := range k {
		if known == id {
			return keyNamed(id), true
		}
	}
	return nil, false
}

var (
	_ = errors.Is
	_ types.EncryptionKeys
	_ = query.Prop
	_ patterns.Encryption
)
