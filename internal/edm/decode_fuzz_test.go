package edm

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"unicode/utf8"
)

// FuzzDecodeEntity compares DecodeEntity with encoding/json. A body that is decoded is valid
// JSON of an object and has the same strings, numbers and booleans. A body that is refused
// is not, or violates the rules for properties.
func FuzzDecodeEntity(f *testing.F) {
	f.Add([]byte(fullRow))
	f.Add([]byte(`{"S":"x","S":"y"}`))
	f.Add([]byte(` { "I64" : 5 , "F64" : 1e5 , "U" : [ { } ] } `))
	f.Add([]byte(`{"S":"\ud83d\ude00\ud800","T":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"F64@odata.type":"Edm.Double","F64":"NaN","I64@odata.type":"Edm.Int64","I64":"-1"}`))
	f.Add([]byte(`{"@":1e400,"F32":3.4028235e+38}`))
	for _, text := range scanSeeds {
		f.Add([]byte(`{"S":` + text + `}`))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var properties map[string]any
		var m Meta
		var unknown Unknown
		err := codecOf[map[string]any](t).DecodeEntity(body, &properties, &m, &unknown)
		var want map[string]any
		numbers := json.NewDecoder(bytes.NewReader(body))
		numbers.UseNumber() // 1e400 is legal, though no float64
		legal := utf8.Valid(body) && json.Valid(body) && numbers.Decode(&want) == nil && want != nil
		var malformed *MalformedError
		switch ok := errors.As(err, &malformed); {
		case err == nil && !legal:
			t.Fatalf("read, although encoding/json refuses it: %q", body)
		case ok && legal && malformed.Reason != "a duplicate member" && malformed.Reason != "an annotation that is not a string" &&
			malformed.Reason != "a duplicate annotation":
			t.Fatalf("%v: %q", err, body)
		}
		if err == nil {
			for name, v := range properties {
				compareValue(t, name, v, want[name])
			}
			// The row equals itself.
			if same, err := EqualContent(body, body); err != nil || !same {
				t.Fatalf("not the same as itself: %v %q", err, body)
			}
		}
		var fields everything
		_ = codecOf[everything](t).DecodeEntity(body, &fields, nil, &unknown)
		_ = names(&unknown)
		if s, ok := want["S"].(string); ok && legal && fields.S != "" && fields.S != s {
			t.Fatalf("%q, want %q: %q", fields.S, s, body)
		}
	})
}

func compareValue(t *testing.T, name string, got, want any) {
	t.Helper()
	if number, ok := want.(json.Number); ok {
		want, _ = number.Float64()
	}
	switch got := got.(type) {
	case string:
		if w, ok := want.(string); ok && w == got || want == nil && (name == partitionKeyName || name == rowKeyName) && got == "" {
			return
		}
	case bool:
		if got == want {
			return
		}
	case int32:
		if float64(got) == want {
			return
		}
	case float64:
		if got == want {
			return
		}
		if w, ok := want.(string); ok && (w == "NaN" || math.IsInf(got, 0)) {
			return
		}
	default: // annotated text or a number for an Edm.Int64
		switch want.(type) {
		case string, float64:
			return
		}
	}
	t.Fatalf("%s is %T %v, want %T %v", name, got, got, want, want)
}

// FuzzDecodePage checks that DecodePage agrees with encoding/json on what is valid.
func FuzzDecodePage(f *testing.F) {
	f.Add([]byte(`{"odata.metadata":"m","value":[` + fullRow + `,{},` + fullRow + `]}`))
	f.Add([]byte(` {"value" : [ ] , "x" : null } `))
	f.Add([]byte(`{"value":[{"Name":"a"},{"Age":1,"Name":"b"}]}`))
	f.Add([]byte(`{"odata.error":{"code":"","message":{"lang":"en-US","value":""}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var rows []narrow
		err := codecOf[narrow](t).DecodePage(body, func() (any, *Meta, *Unknown) {
			rows = append(rows, narrow{})
			return &rows[len(rows)-1], nil, nil
		})
		if err != nil {
			return
		}
		var want struct {
			Value []map[string]any `json:"value"`
		}
		if !utf8.Valid(body) || !json.Valid(body) {
			t.Fatalf("read, although it is not valid JSON: %q", body)
		}
		// encoding/json ignores the case of the name value.
		if json.Unmarshal(body, &want) != nil || len(want.Value) != len(rows) {
			return
		}
		for i, row := range want.Value {
			if name, ok := row["Name"].(string); ok && name != rows[i].Name {
				t.Fatalf("row %d has the name %q, want %q", i, rows[i].Name, name)
			}
		}
	})
}
