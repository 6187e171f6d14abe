package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func readReadme(t *testing.T) string {
	t.Helper()
	text := assert.Must(os.ReadFile(filepath.Join("..", "..", "README.md")))(t)
	return string(text)
}

// TestTheProgramOfTheReadmeRunsAsPrinted runs the first Go program of the README against
// an account that serves HTTP.
func TestTheProgramOfTheReadmeRunsAsPrinted(t *testing.T) {
	t.Parallel()
	_, program, found := strings.Cut(readReadme(t), "```go\npackage main\n")
	program, _, closed := strings.Cut(program, "```\n")
	if !found || !closed {
		t.Fatal("README.md has no Go program")
	}
	server := assert.Must(storagetest.New(t).Serve())(t)
	t.Cleanup(func() { _ = server.Close() })
	file := filepath.Join(t.TempDir(), "main.go")
	assert.NoError(t, os.WriteFile(file, []byte("package main\n"+program), 0o600))
	for range 2 { // the second time the table and the row exist
		cmd := exec.Command("go", "run", file)
		cmd.Env = append(os.Environ(), "AZURE_STORAGE_CONNECTION_STRING="+server.ConnectionString())
		output, err := cmd.CombinedOutput()
		if err != nil || string(output) != "Ken Kwok 35\n" {
			t.Fatalf("%v\n%s", err, output)
		}
	}
}

func TestTheFilterOfTheReadmeHasThePrintedPlan(t *testing.T) {
	var out strings.Builder
	f, err := query.Parse("RowKey eq '121' or RowKey eq '322'")
	fmt.Fprintln(&out, query.Explain(f))
	assert.NoError(t, err)
	if _, plan, found := strings.Cut(readReadme(t), "fmt.Println(query.Explain(f))\n```\n```\n"); !found || !strings.HasPrefix(plan, out.String()+"```\n") {
		t.Errorf("README.md does not print\n%s", out.String())
	}
}

// A reader starts the Azurite that the tests use, and connects to it.
func TestTheReadmeStartsTheAzuriteOfTheTests(t *testing.T) {
	file := assert.Must(os.ReadFile(filepath.Join("..", "..", "internal", "azurite", "package.json")))(t)
	var module struct{ Dependencies struct{ Azurite string } }
	assert.NoError(t, json.Unmarshal(file, &module))
	readme := strings.ReplaceAll(readReadme(t), "\\\n", "")
	if command := "npx --yes azurite@" + module.Dependencies.Azurite + " --inMemoryPersistence --skipApiVersionCheck --disableTelemetry "; !strings.Contains(readme, command) {
		t.Errorf("README.md does not contain %q", command)
	}
	_, connection, _ := strings.Cut(readme, "export AZURE_STORAGE_CONNECTION_STRING=\"")
	connection, _, _ = strings.Cut(connection, "\"")
	want := fmt.Sprintf("DefaultEndpointsProtocol=http;AccountName=%[1]s;AccountKey=%[2]s;BlobEndpoint=http://127.0.0.1:10000/%[1]s;"+
		"QueueEndpoint=http://127.0.0.1:10001/%[1]s;TableEndpoint=http://127.0.0.1:10002/%[1]s;", storagetest.AccountName, storagetest.AccountKey)
	if connection != want {
		t.Errorf("README.md connects to %q, want %q", connection, want)
	}
}

func TestTheAccountOfTheReadmeLosesTheReplyAndKillsTheProgram(t *testing.T) {
	runs := 0
	run := func(tables *aztables.ServiceClient) {
		runs++
		_, _ = tables.CreateTable(t.Context(), "Claims", nil)
	}
	scenario := func(_ context.Context, acct *storagetest.Account) error {
		_, err := acct.Tables().CreateTable(t.Context(), "Claims", nil)
		return err
	}
	check := func(*testing.T, *storagetest.Account) { runs++ }

	acct := storagetest.New(t)
	acct.Fault(storagetest.On("Table.Batch").Nth(3).LoseReply())
	run(acct.Tables())

	storagetest.CrashPoints(t, scenario, check) // killed before, during and after each of its requests
	if runs < 3 {
		t.Errorf("%d runs", runs)
	}
}

// Every block of Go in the README consists of lines of a file of this repository, all of
// which the gate compiles. "…" separates parts. The first program is compiled as it is printed.
func TestTheCodeOfTheReadmeIsCompiled(t *testing.T) {
	var sources []string
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".go" {
			return err
		}
		text, err := os.ReadFile(file)
		sources = append(sources, undented(string(text)))
		return err
	})
	assert.NoError(t, err)
	blocks := strings.Split(readReadme(t), "```go\n")[1:]
	if len(blocks) < 5 {
		t.Errorf("%d blocks", len(blocks))
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if strings.HasPrefix(code, "package main\n") {
			continue
		}
		for part := range strings.SplitSeq(code, "…\n") {
			contains := func(source string) bool { return strings.Contains(source, undented(part)) }
			if !slices.ContainsFunc(sources, contains) {
				t.Errorf("in no file of this repository:\n%s", part)
			}
		}
	}
}

var indent = regexp.MustCompile(`(?m)^[\t ]+`)

// undented returns code without the indentation of its lines.
func undented(code string) string { return indent.ReplaceAllString(code, "") }
