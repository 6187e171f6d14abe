package examples

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
)

// build returns one program that contains the programs of the folders, and runs the one whose folder is the first of its
// arguments. To link it takes no longer than to link one of them.
func build(t *testing.T, folders []string) (program string) {
	t.Helper()
	dependOnAllFiles(t)
	dir := t.TempDir()
	replace := map[string]string{} // a file, which need not exist, by a file of dir
	add := func(name, text string) {
		file := filepath.Join(dir, fmt.Sprint(len(replace), ".go"))
		write(t, file, text)
		original := assert.Must(filepath.Abs(name))(t)
		replace[original] = file
	}
	var imports, cases strings.Builder
	for i, folder := range folders {
		files := assert.Must(filepath.Glob(filepath.Join(folder, "*.go")))(t)
		for _, name := range files {
			text := assert.Must(os.ReadFile(name))(t)
			add(name, strings.Replace("\n"+string(text), "\npackage main\n", "\npackage example\n", 1))
		}
		add(filepath.Join(folder, "imported.go"), "package example\n\nfunc Main() { main() }\n")
		fmt.Fprintf(&imports, "import e%d %q\n", i, "github.com/azpatterns/azpatterns/examples/"+folder)
		fmt.Fprintf(&cases, "\tcase %q:\n\t\te%d.Main()\n", folder, i)
	}
	main := filepath.Join("internal", "all")
	add(filepath.Join(main, "main.go"), "package main\n\nimport \"os\"\n"+imports.String()+
		"func main() {\n\tswitch os.Args[0] {\n"+cases.String()+"\tdefault:\n\t\tpanic(os.Args[0])\n\t}\n}\n")
	overlay := assert.Must(json.Marshal(map[string]any{"Replace": replace}))(t)
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	program = filepath.Join(dir, "program.exe")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program,
		"."+string(filepath.Separator)+main)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return program
}

// dependOnAllFiles looks at every folder of the module: the go command repeats a test whose result it has kept if the files
// of these folders have changed. It does not know what the go command in a test reads.
func dependOnAllFiles(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		if entry.IsDir() && entry.Name() == ".git" {
			return fs.SkipDir
		}
		return err
	})
	assert.NoError(t, err)
}

func write(t *testing.T, file, content string) {
	t.Helper()
	assert.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	assert.NoError(t, os.WriteFile(file, []byte(content), 0o600))
}
