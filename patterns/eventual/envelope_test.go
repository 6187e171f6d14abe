package eventual

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

// zeros is a SHA-256.
var zeros = strings.Repeat("0", 64)

// unsigned is a queue without keys.
var unsigned queue

var greeting = "hi"

// The messages of format version 1. Queues contain them: later versions of the library
// have to read them, and have to write them until all workers can read a new format.
var formats = map[string]envelope{
	`{"azp":1,"id":"op","kind":"letter.send","at":"2026-01-02T03:04:05.000000006Z","body":{"To":"<Ken>"}}`: {
		Version: 1, ID: "op", Kind: "letter.send", At: at, Body: []byte(`{"To":"<Ken>"}`)},
	`{"azp":1,"id":"op","kind":"k","at":"2026-01-02T03:04:05.000000006Z","claim":{"name":"azp_claim/0b4f6d1e-8a35-4c8e-9f0d-2b8f3f1f9a77","size":7,"sha256":"` + zeros + `"},"free":3}`: {
		Version: 1, ID: "op", Kind: "k", At: at, Claim: &claim{"azp_claim/0b4f6d1e-8a35-4c8e-9f0d-2b8f3f1f9a77", 7, zeros}, Free: 3},
	`{"azp":1,"id":"m","kind":"azp.raw","at":"2026-01-02T03:04:05.000000006Z","text":"hi","poison":{"message":"m","reason":"r","attempts":5,"inserted":"2026-01-02T03:04:05.000000006Z","at":"2026-01-02T03:04:05.000000006Z"}}`: {
		Version: 1, ID: "m", Kind: "azp.raw", At: at, Text: &greeting, Poison: &poisonInfo{"m", "r", 5, at, at}},
}

func TestMessageFormatDoesNotChange(t *testing.T) {
	for text, e := range formats {
		got := assert.Must(e.encode(unsigned))(t)
		if want := base64.StdEncoding.EncodeToString([]byte(text)); got != want {
			b, _ := base64.StdEncoding.DecodeString(got)
			t.Errorf("encoded\n%s, want\n%s", b, text)
		}
		for _, encoding := range []string{got, text} { // base64 and plain
			assert.DeepEqual(t, assert.Must(unsigned.parse(encoding))(t), e)
		}
	}
}

func FuzzParse(f *testing.F) {
	for text := range formats {
		f.Add(text)
		f.Add(base64.StdEncoding.EncodeToString([]byte(text)))
	}
	for _, text := range []string{"", "e30=", `{"azp":1}`, `{"azp":2}`, `{"azp":1,"id":"x","kind":"k","body":null,"free":-1}`, "abcd", "\xff",
		"{\"azp\":1,\"id\":\"0\",\"kind\":\"0\",\"body\":{\"\":\"\xfb\"}}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := unsigned.parse(text)
		if err != nil {
			if !errors.Is(err, errForeign) && err.Error() == "" {
				t.Error("an error without text")
			}
			return
		}
		if c := e.Claim; c != nil && (!strings.HasPrefix(c.Name, claimPrefix) || len(c.Name) != len(claimPrefix)+36 || c.Size < 0) {
			t.Errorf("claim %+v", c)
		}
		if !azerr.IsPrintable(e.ID + e.Kind + e.Trace) {
			t.Errorf("not printable: %+v", e)
		}
		// What was parsed can be moved to poison and parsed again.
		m := &message{id: "m", text: text, deliveries: 1, clock: &calls.Clock{}}
		texts := poisonTexts(unsigned, m, &e, 5, errors.New("because"))
		if len(text) > maxText {
			return
		}
		poison, err := unsigned.parse(texts[0])
		if err != nil && len(texts) > 1 {
			t.Fatalf("moved %q to poison, parsed %v", texts[0], err)
		}
		if err == nil && poison.Poison != nil && (poison.ID != e.ID || poison.Kind != e.Kind) {
			t.Errorf("moved %+v to poison, parsed %+v", e, poison)
		}
	})
}
