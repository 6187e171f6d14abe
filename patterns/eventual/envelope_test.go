package eventual

import (
	"encoding/base64"
	"errors"
	"reflect"
	"testing"
	"time"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

// The forms of a message. They are stored in queues: a new version of the library
// has to read them, and to write them until all workers read what comes next.
var forms = map[string]envelope{
	`{"azp":1,"id":"op","kind":"letter.send","at":"2026-01-02T03:04:05.000000006Z","body":{"To":"<Ken>"}}`: {
		Version: 1, ID: "op", Kind: "letter.send", At: at, Body: []byte(`{"To":"<Ken>"}`)},
	`{"azp":1,"id":"op","kind":"k","at":"2026-01-02T03:04:05.000000006Z","claim":{"name":"azp_claim/x","size":7,"sha256":"ab"},"free":3}`: {
		Version: 1, ID: "op", Kind: "k", At: at, Claim: &claim{"azp_claim/x", 7, "ab"}, Free: 3},
	`{"azp":1,"id":"m","kind":"azp.raw","at":"2026-01-02T03:04:05.000000006Z","text":"hi","poison":{"message":"m","reason":"r","attempts":5,"inserted":"2026-01-02T03:04:05.000000006Z","at":"2026-01-02T03:04:05.000000006Z"}}`: {
		Version: 1, ID: "m", Kind: "azp.raw", At: at, Text: new("hi"), Poison: &poisonInfo{"m", "r", 5, at, at}},
}

func TestTheFormOfAMessageDoesNotChange(t *testing.T) {
	for text, e := range forms {
		got, err := e.encode()
		if err != nil {
			t.Fatal(err)
		}
		if want := base64.StdEncoding.EncodeToString([]byte(text)); got != want {
			b, _ := base64.StdEncoding.DecodeString(got)
			t.Errorf("wrote\n%s, want\n%s", b, text)
		}
		for _, form := range []string{got, text} { // base64 and plain
			if back, err := parse(form); err != nil || !reflect.DeepEqual(back, e) {
				t.Errorf("read %+v, %v, want %+v", back, err, e)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for text := range forms {
		f.Add(text)
		f.Add(base64.StdEncoding.EncodeToString([]byte(text)))
	}
	for _, text := range []string{"", "e30=", `{"azp":1}`, `{"azp":2}`, `{"azp":1,"id":"x","kind":"k","body":null,"free":-1}`, "abcd", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parse(text)
		if err != nil {
			if !errors.Is(err, errForeign) && err.Error() == "" {
				t.Error("an error without a text")
			}
			return
		}
		// What is read can be written, buried and read again.
		m := &message{id: "m", text: text, deliveries: 1}
		texts := poisonTexts(m, &e, 5, errors.New("because"))
		if len(text) > maxText {
			return
		}
		dead, err := parse(texts[0])
		if err != nil && len(texts) > 1 {
			t.Fatalf("buried %q, read %v", texts[0], err)
		}
		if err == nil && dead.Poison != nil && (dead.ID != e.ID || dead.Kind != e.Kind) {
			t.Errorf("buried %+v, read %+v", e, dead)
		}
	})
}
