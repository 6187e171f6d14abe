package shards

import (
	"encoding/json"
	"github.com/azpatterns/azpatterns/internal/assert"
	"reflect"
	"slices"
	"testing"
)

// A directory that is accepted is printed as it was, and assigns each partition to an account that it names.
func FuzzDirectory(f *testing.F) {
	for _, text := range []string{
		"", "{}", `{"Lease":1000000000,"Idle":1000000000,"Config":{"Accounts":[{"Name":"a","Weight":1}]}}`,
		`{"Version":7,"Epoch":1,"Lease":1,"Idle":1,"Wait":5,"Config":{"Accounts":[{"Name":"a","Weight":1},{"Name":"b","Weight":2.5}],"Pins":{"p":"b"}},"Closed":1,"Run":"r",
			"Move":{"To":{"Accounts":[{"Name":"a","Weight":1},{"Name":"b","Weight":2.5},{"Name":"c","Weight":1e9}]},"Only":"p","Clean":{"Key":"a"},"Open":{"Key":"m"},"Frozen":{"All":true}}}`,
		`{"Lease":1,"Idle":1,"Config":{"Accounts":[{"Name":"a","Weight":5e-324},{"Name":"b","Weight":-1}]}}`,
		`{"Lease":1,"Idle":1,"Config":{"Accounts":[{"Name":"a","Weight":1}],"Pins":{"p":"elsewhere"}},"Move":{"To":{"Accounts":[]}}}`,
	} {
		f.Add([]byte(text), "p")
	}
	f.Fuzz(func(t *testing.T, text []byte, partition string) {
		var d layout
		if json.Unmarshal(text, &d) != nil || !d.valid() {
			return
		}
		printed := assert.Must(json.Marshal(d))(t)
		var again layout
		if err := json.Unmarshal(printed, &again); err != nil || !again.valid() {
			t.Fatalf("%s is printed as %s, %v", text, printed, err)
		}
		if twice, _ := json.Marshal(again); !reflect.DeepEqual(twice, printed) {
			t.Errorf("%s is printed as %s", printed, twice)
		}
		named := slices.Clone(d.Config.Accounts)
		if d.Move != nil {
			named = append(named, d.Move.To.Accounts...)
		}
		writer, open := d.writer(partition)
		for _, name := range []string{d.reader(partition), writer} {
			if !slices.ContainsFunc(named, func(m member) bool { return m.Name == name }) {
				t.Errorf("%s: %q is at %q", printed, partition, name)
			}
		}
		if d.frozen(partition) == open || d.Move == nil && !open {
			t.Errorf("%s: %q: open: %v", printed, partition, open)
		}
		assert.Equal(t, again.reader(partition), d.reader(partition), printed, partition, "has another account when it is read again")
	})
}
