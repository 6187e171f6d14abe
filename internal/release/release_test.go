package main

import (
	"bytes"
	"github.com/azpatterns/azpatterns/internal/assert"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const version = "v0.1.0"

var program = regexp.MustCompile("(?s)```go\n(package main\n.*?)```")

// A user has neither a clone nor replace directives.
func TestAReleaseIsUsableFromAnotherModule(t *testing.T) {
	dir := t.TempDir()
	tree, proxy := filepath.Join(dir, "tree"), filepath.Join(dir, "proxy")
	copyFiles(t, tree)
	assert.NoError(t, serve(tree, proxy, version))
	env := append(environment(proxy), "GOBIN="+filepath.Join(dir, "bin"))

	readme, err := os.ReadFile("../../README.md")
	assert.NoError(t, err)
	match := program.FindSubmatch(readme)
	if match == nil {
		t.Fatal("README.md contains no program")
	}
	user := filepath.Join(dir, "user")
	files := map[string][]byte{"go.mod": []byte("module example.com/user\n\ngo 1.25.0\n"), "main.go": match[1]}
	for to, from := range map[string]string{
		"account/example_test.go": "patterns/storagetest/example_test.go",
		"recipe/main.go":          "examples/logtail/main.go",
	} {
		if files[to], err = os.ReadFile(filepath.Join("../..", from)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		name = filepath.Join(user, name)
		assert.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		assert.NoError(t, os.WriteFile(name, text, 0o644))
	}
	for _, args := range []string{
		"get " + root + "@latest",
		"mod tidy",
		"build ./...",
		"test ./account",
		"install " + root + "/query/vet@" + version,
		"install " + root + "/examples/tablectl@" + version,
		"run " + root + "/query/vet@" + version + " -explain",
		"get " + root + "/patterns/otel@" + version,
	} {
		if args := strings.Fields(args); true {
			assert.NoError(t, run(user, env, "go", args...))
		}
	}

	want := assert.Must(os.ReadFile("../../examples/logtail/output.txt"))(t)
	recipe := exec.Command("go", "run", "./recipe")
	recipe.Dir, recipe.Env = user, env
	if got, err := recipe.Output(); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the recipe: %v, prints\n%s", err, got)
	}

	mod := assert.Must(os.ReadFile(filepath.Join(user, "go.mod")))(t)
	assert.Contains(t, string(mod), root+" "+version, "go.mod does not require the release", mod)
	for _, library := range []string{"pgregory.net/rapid", "github.com/anishathalye/porcupine"} {
		if strings.Contains(string(mod), library) {
			t.Errorf("go.mod of a user contains the test library %s:\n%s", library, mod)
		}
	}
}

// copyFiles copies the files of a commit of the work tree to dir: those that git does not ignore.
func copyFiles(t *testing.T, dir string) {
	t.Helper()
	var names []string
	if out, err := exec.Command("git", "-C", "../..", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output(); err == nil {
		names = strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	} else { // not a clone
		err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				names = append(names, name)
			}
			return err
		})
		assert.NoError(t, err)
	}
	slices.Sort(names)
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		} else if err != nil {
			t.Fatal(err)
		}
		name = filepath.Join(dir, name)
		assert.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		assert.NoError(t, os.WriteFile(name, text, 0o644))
	}
}
