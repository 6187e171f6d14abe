package importrules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// SECURITY.md has a row in its table of roles for each package that a program can use.
func TestSecurityNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile("../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	packages, err := filepath.Glob("../../patterns/*/doc.go")
	if err != nil || len(packages) < 15 {
		t.Fatalf("%d packages, %v", len(packages), err)
	}
	for _, doc := range append(packages, "../../patterns/doc.go") {
		path := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(doc), filepath.FromSlash("../../")))
		if !strings.Contains(string(text), "\n| `"+path+"` |") {
			t.Errorf("%s is missing", path)
		}
	}
	for line := range strings.Lines(string(text)) {
		path, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` |")
		if ok && strings.HasPrefix(line, "| `patterns") {
			if _, err := os.Stat("../../" + path); err != nil {
				t.Errorf("%s does not exist", path)
			}
		}
	}
}
