package access_test

import (
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/access"
)

func options(transport policy.Transporter) azcore.ClientOptions {
	return azcore.ClientOptions{Transport: transport, Retry: policy.RetryOptions{MaxRetries: -1}}
}

func TestARangeContainsExactlyTheDocumentedKeys(t *testing.T) {
	at := func(pk, rk string) keys.Key { return keys.Key{Partition: pk, Row: rk} }
	layout, err := keys.NewLayout[struct {
		ID   uint64 `key:"digits=6"`
		Year uint64 `key:"digits=4"`
	}](nil)
	assert.NoError(t, err)
	empid := struct {
		ID   uint64 `key:"digits=6"`
		Year uint64 `key:"digits=4"`
	}{ID: 123}
	reviews := assert.Must(layout.Range(empid, 1))(t)
	full := strings.Repeat("x", keys.MaxUnits-1)
	tests := []struct {
		name    string
		r       access.Range
		in, out []keys.Key
	}{
		{"whole table", access.Range{}, []keys.Key{at("", ""), at("z", "\uFFFF")}, nil},
		{"one partition", access.Partition("b"), []keys.Key{at("b", ""), at("b", "\uFFFF")}, []keys.Key{at("a", "x"), at("b ", ""), at("c", "")}},
		{"partitions", access.Partitions(keys.Range{From: "b", To: "d"}),
			[]keys.Key{at("b", ""), at("c", "x"), at("cz", "z")}, []keys.Key{at("a", "z"), at("d", ""), at("d", "x")}},
		{"partitions from", access.Partitions(keys.Range{From: "b"}), []keys.Key{at("b", ""), at("z", "")}, []keys.Key{at("az", "z")}},
		{"partitions to", access.Partitions(keys.Range{To: "b"}), []keys.Key{at("", ""), at("az", "")}, []keys.Key{at("b", "")}},
		{"one of the ids", access.Rows("p", reviews), []keys.Key{at("p", "000123_2012"), at("p", "000123_9999")},
			[]keys.Key{at("p", "000122_9999"), at("p", "0001230"), at("p", "000124_2012"), at("p", "000123`"), at("o", "000123_2012"), at("q", "")}},
		{"prefix", access.Rows("p", keys.Prefix("email_a")), []keys.Key{at("p", "email_a"), at("p", "email_azz"), at("p", "email_a😀")},
			[]keys.Key{at("p", "email_"), at("p", "email_b"), at("pp", "email_a")}},
		{"one row", access.Rows("p", keys.Range{From: "x", To: "x "}), []keys.Key{at("p", "x")}, []keys.Key{at("p", "x "), at("p", "xx"), at("p", "w")}},
		{"to the character after a forbidden one", access.Rows("p", keys.Range{To: "a0"}), []keys.Key{at("p", "a"), at("p", "a.z")}, []keys.Key{at("p", "a0")}},
		{"to the first character of two units", access.Rows("p", keys.Range{To: "a\U00010000"}),
			[]keys.Key{at("p", "a\ud7ff"), at("p", "az")}, []keys.Key{at("p", "a\U00010000"), at("p", "a\ue000"), at("p", "a\uffff")}},
		{"to the first character after those", access.Rows("p", keys.Range{To: "a\ue000"}),
			[]keys.Key{at("p", "a\ud7ff"), at("p", "a\U00010000"), at("p", "a\U0010ffff")}, []keys.Key{at("p", "a\ue000"), at("p", "a\uffff")}},
		{"to a key of full length", access.Rows("p", keys.Range{To: full + "b"}), []keys.Key{at("p", full+"a"), at("p", full)}, []keys.Key{at("p", full+"b")}},
		{"pairs", access.Between(at("b", "5"), at("d", "5")), []keys.Key{at("b", "5"), at("c", "0"), at("c", "9"), at("d", "5")},
			[]keys.Key{at("b", "4"), at("d", "6"), at("a", "9"), at("e", "0")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.NoError(t, test.r.Err())
			for _, k := range test.in {
				if !test.r.Contains(k) {
					t.Errorf("%q is not contained", k)
				}
			}
			for _, k := range test.out {
				if test.r.Contains(k) {
					t.Errorf("%q is contained", k)
				}
			}
		})
	}
}

func TestARangeThatCannotBeSignedReportsAnError(t *testing.T) {
	long := strings.Repeat("x", 513)
	tests := map[string]access.Range{
		"empty partition":              access.Partition(""),
		"only the empty row":           access.Rows("p", keys.Range{To: " "}),
		"only the empty key":           access.Partitions(keys.Range{To: " "}),
		"illegal partition":            access.Partition("a/b"),
		"illegal row":                  access.Rows("p", keys.Range{From: "a#"}),
		"illegal end":                  access.Rows("p", keys.Range{To: "a#"}),
		"too long":                     access.Partition(long),
		"not UTF-8":                    access.Rows("p", keys.Range{From: "\xff"}),
		"end before start":             access.Rows("p", keys.Range{From: "b", To: "a"}),
		"no rows":                      access.Rows("p", keys.Range{From: "b", To: "b"}),
		"last partition before first":  access.Between(keys.Key{Partition: "b"}, keys.Key{Partition: "a"}),
		"last row before first":        access.Between(keys.Key{Partition: "b", Row: "2"}, keys.Key{Partition: "b", Row: "1"}),
		"row without a partition":      access.Between(keys.Key{Row: "a"}, keys.Key{}),
		"last row without a partition": access.Between(keys.Key{}, keys.Key{Row: "a"}),
	}
	for name, r := range tests {
		t.Run(name, func(t *testing.T) {
			err := r.Err()
			wantField(t, err, "Range")
			if err != nil && (strings.Contains(err.Error(), "a/b") || strings.Contains(err.Error(), "xxx")) {
				t.Errorf("the error contains the key: %v", err)
			}
			if r.Contains(keys.Key{Partition: "p", Row: "a"}) || r.Contains(keys.Key{}) {
				t.Error("a range that cannot be signed contains a key")
			}
		})
	}
	assert.WantError(t, access.Partition("a/b").Err(), keys.ErrBadKey, "an illegal key does not match keys.ErrBadKey")
}

// A Range is a subset of its keys.Range: the only keys that it excludes contain U+FFFD or
// a higher character.
func TestARangeNeverExceedsItsKeyRange(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune(" !ab~\u00a0\ud7ff\ue000\ufffc\ufffd\uffff\U00010000😀\U0010ffff")), 0, 4, -1)
	rapid.Check(t, func(t *rapid.T) {
		r := keys.Range{From: text.Draw(t, "from"), To: text.Draw(t, "to")}
		key := text.Draw(t, "key")
		rows, parts := access.Rows("p", r), access.Partitions(r)
		assert.Equal(assert.Now(t), (rows.Err() == nil), (parts.Err() == nil), rows.Err(), parts.Err())
		inRows := rows.Contains(keys.Key{Partition: "p", Row: key})
		assert.Equal(assert.Now(t), inRows, parts.Contains(keys.Key{Partition: key, Row: text.Draw(t, "row")}), r, key, "partitions and rows differ")
		if inRows && !r.Contains(key) {
			t.Fatalf("%q contains %q", r, key)
		}
		if rows.Err() == nil && !inRows && r.Contains(key) && !strings.ContainsAny(key, "\ufffd\uffff") {
			t.Fatalf("%q excludes %q", r, key)
		}
		if rows.Contains(keys.Key{Partition: "o", Row: key}) || rows.Contains(keys.Key{Partition: "p ", Row: key}) {
			t.Fatalf("%q contains keys of another partition", r)
		}
	})
}
