package tablectl

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
)

var update = flag.Bool("update", false, "write testdata/texts.txt")

// All texts of usage, and those of the errors that a command line or a file can cause, are in one file, so that they are read together.
func TestTexts(t *testing.T) {
	path := assert.Must(filepath.Abs("testdata/texts.txt"))(t)
	t.Setenv(connectionVariable, "")
	t.Chdir(t.TempDir())
	write := func(name, text string) { assert.NoError(t, os.WriteFile(name, []byte(text), 0o600)) }
	write("rows.jsonl", `{"PartitionKey":"p","RowKey":5}`+"\n"+`{"PartitionKey":"p"}`+"\n"+`{"PartitionKey":"p","RowKey":"r","a-b":1}`+"\n"+`{"PartitionKey":"p","RowKey":"r","N":1e999}`+
		"\n"+`{"PartitionKey":"a/b","RowKey":"r"}`+"\n"+`{"PartitionKey":"p","RowKey":"r","N":1,"N":2}`+"\nno row\n"+`{"PartitionKey":"p","RowKey":"r","T@odata.type":"Edm.DateTime","T":"today"}`+"\n")
	write("present.jsonl", "{}\n")
	write("bad.state", "{}")
	write("old.state", `{"Format":1}`)
	lines := []string{"", "help", "frobnicate"}
	for _, k := range commands() {
		lines = append(lines, "help "+k.name, k.name)
	}
	lines = append(lines,
		"count People", "count -demo -azurite People", "count -account https://x.table.core.windows.net/?sv=1 People", "count -demo -where PartitionKey People",
		"count -demo -where Salary+gt+5 People", "count -demo Nothing", "count -demo a", "count -nonsense", "count -parallel x People",
		"import -demo rows.jsonl Types", "import -demo nowhere.jsonl Types", "import -demo -mode other rows.jsonl Types", "import -demo -chunk 0 rows.jsonl Types",
		"import -demo -aside present.jsonl rows.jsonl Types", "import -demo -state bad.state rows.jsonl Types", "import -demo -state old.state rows.jsonl Types",
		"import -demo - Types", "import -demo present.jsonl Nothing", "export -demo People present.jsonl", "export -demo People nowhere/rows.jsonl", "copy -demo People People",
		"diff -demo People present.jsonl", "explain Salary+gt", "verify -demo animals", "sweep -demo animals", "poison -demo lose jobs", "poison -demo replay jobs",
		"poison -demo discard jobs none", "heat nowhere", "dump -demo -parallel 0 place", "dump -demo place Nothing", "restore -demo nowhere", "tables -demo lose", "tables -demo create",
		"tables -demo create a-b", "tables -demo drop People", "tables -demo drop -yes People Od", "get -demo People p r", "get -demo People a/b r", "put -demo People {}", "put -demo -mode insert People "+
			`{"PartitionKey":"Sales","RowKey":"000002"}`, "rm -demo People p", "rm -demo People p r", "query -demo -csv People", "query -demo -csv -json -select Name People", "query -demo -top -1 People", "query -demo -select a-b People",
	)
	var got strings.Builder
	for _, line := range lines {
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "+", " ")
		}
		o := tablectl(t, nil, args...)
		fmt.Fprintf(&got, "$ tablectl %s\n%sexit code %d\n\n", line, o.err, o.code)
	}
	if *update {
		assert.NoError(t, os.WriteFile(path, []byte(got.String()), 0o600))
	}
	want := strings.Split(string(assert.Must(os.ReadFile(path))(t)), "\n")
	for i, line := range strings.Split(got.String(), "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("line %d of testdata/texts.txt: got %q: go test ./patterns/tablectl -run TestTexts -update", i+1, line)
		}
	}
}
