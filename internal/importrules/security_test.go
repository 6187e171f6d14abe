package importrules

import (
	"github.com/azpatterns/azpatterns/internal/assert"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// SECURITY.md has a row in its table of roles for each package that a program can use.
func TestSecurityNamesEveryPackage(t *testing.T) {
	text := assert.Must(os.ReadFile("../../SECURITY.md"))(t)
	packages, err := filepath.Glob("../../patterns/*/doc.go")
	if err != nil || len(packages) < 15 {
		t.Fatalf("%d packages, %v", len(packages), err)
	}
	for _, doc := range append(packages, "../../patterns/doc.go") {
		path := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(doc), filepath.FromSlash("../../")))
		assert.Contains(t, string(text), "\n| `"+path+"` |", path, "is missing")
	}
	for line := range strings.Lines(string(text)) {
		path, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` |")
		if ok && strings.HasPrefix(line, "| `patterns") {
			assert.Equal(t, assert.ErrorOf(os.Stat("../../"+path)), nil, path, "does not exist")
		}
	}
}
