package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// TestTheProgramOfTheReadmeRunsAsPrinted runs the first Go program of the README against
// an account that serves HTTP.
func TestTheProgramOfTheReadmeRunsAsPrinted(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, program, found := strings.Cut(string(readme), "```go\npackage main\n")
	program, _, closed := strings.Cut(program, "```\n")
	if !found || !closed {
		t.Fatal("README.md has no Go program")
	}
	server, err := storagetest.New(t).Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte("package main\n"+program), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time the table and the row exist
		cmd := exec.Command("go", "run", file)
		cmd.Env = append(os.Environ(), "AZURE_STORAGE_CONNECTION_STRING="+server.ConnectionString())
		output, err := cmd.CombinedOutput()
		if err != nil || string(output) != "Ken Kwok 35\n" {
			t.Fatalf("%v\n%s", err, output)
		}
	}
}
