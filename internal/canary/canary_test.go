package canary_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

// The canaries: one text, and one value of each type whose decoder or formatter may quote it.
const (
	bird     = "canary7f3a"
	digits   = "8675309421"
	address  = "203.0.113.77"
	day      = "2031-07-08T09:10:11Z"
	clock    = "09:10:11"
	guid     = "c0ffee00-7f3a-4bad-8bad-0123456789ab"
	fraction = "86753.09421"
)

// secrets are all forms in which a canary could appear.
var secrets = func() []string {
	forms := []string{bird, digits, address, clock, guid, strings.ReplaceAll(guid, "-", ""), fraction, "8.675309421"}
	for _, s := range []string{bird, digits} {
		forms = append(forms, hex.EncodeToString([]byte(s)), url.QueryEscape("'"+s+"'"))
		for shift := range 3 { // the three alignments of base64, without the characters that depend on neighbours
			text := base64.StdEncoding.EncodeToString([]byte("xxx"[:shift] + s))
			forms = append(forms, text[4:len(text)-4])
		}
	}
	return forms
}()

// search reports the secrets in text, regardless of case.
func search(t *testing.T, what, text string) {
	t.Helper()
	for _, secret := range secrets {
		if strings.Contains(strings.ToLower(text), strings.ToLower(secret)) {
			t.Errorf("%s contains %q: %.400s", what, secret, text)
			return
		}
	}
}

// inspect searches everything that a program prints of v, an error or a report, without %+v.
func inspect(t *testing.T, what string, v any) {
	t.Helper()
	if v == nil || reflect.ValueOf(v).Kind() == reflect.Pointer && reflect.ValueOf(v).IsNil() {
		return
	}
	for _, verb := range []string{"%v", "%s", "%q", "%x"} {
		text := fmt.Sprintf(verb, v)
		if verb == "%x" { // of a type that has no format of its own it is the hexadecimal text
			if b, err := hex.DecodeString(text); err == nil {
				text = string(b)
			}
		}
		search(t, what+" as "+verb, text)
	}
	if err, ok := v.(error); ok {
		search(t, what+" as Error()", err.Error())
	}
	var text, object bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Error("failed", "result", v)
	slog.New(slog.NewJSONHandler(&object, nil)).Error("failed", "result", v)
	search(t, what+" in slog.TextHandler", text.String())
	search(t, what+" in slog.JSONHandler", object.String())
}

func TestTheSearchFindsEveryForm(t *testing.T) {
	for what, leak := range map[string]string{
		"text":          "no row " + bird,
		"upper case":    strings.ToUpper(bird),
		"base64":        base64.StdEncoding.EncodeToString([]byte(bird)),
		"base64 inside": base64.StdEncoding.EncodeToString([]byte("{" + bird + "}")),
		"hex":           hex.EncodeToString([]byte(bird)),
		"address":       "/T(PartitionKey=%27" + bird + "%27)",
		"number":        "strconv: " + digits,
	} {
		found := false
		for _, secret := range secrets {
			found = found || strings.Contains(strings.ToLower(leak), strings.ToLower(secret))
		}
		if !found {
			t.Errorf("%s: %s is not found", what, leak)
		}
	}
	if b, _ := json.Marshal("no secret"); bytes.Contains(b, []byte(bird)) {
		t.Error("found a secret in a text that has no secret")
	}
}
