package format_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

var write = flag.Bool("format.write", false, "add a version to each group whose formats have changed")

// group is formats that are written and read together.
type group struct {
	name  string
	write func(w *world) // stores one of each
	read  func(w *world) // reads, finishes and repairs what any version of it has stored
	large bool           // the files are compressed
}

func (g *group) file(version int) string {
	return filepath.Join("testdata", fmt.Sprintf("%s.%d.json%s", g.name, version, g.suffix()))
}

// suffix is that of compressed files.
func (g *group) suffix() string {
	if g.large {
		return ".gz"
	}
	return ""
}

// versions returns the number of files.
func (g *group) versions() int {
	n := 0
	for {
		if _, err := os.Stat(g.file(n + 1)); err != nil {
			return n
		}
		n++
	}
}

// skip leaves out what has megabytes.
func (g *group) skip(t *testing.T) {
	if testing.Short() && g.name == "wide-staged" {
		t.Skip("it takes seconds")
	}
}

func (g *group) load(t *testing.T, version int) *record {
	t.Helper()
	text, err := os.ReadFile(g.file(version))
	if err == nil && g.large {
		text, err = decompress(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &record{}
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatal(err)
	}
	return r
}

func (g *group) save(t *testing.T, version int, r *record) {
	t.Helper()
	r.sort()
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	if err := enc.Encode(r); err != nil {
		t.Fatal(err)
	}
	content := text.Bytes()
	if g.large {
		content = compress(content)
	}
	if err := os.WriteFile(g.file(version), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func compress(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text) // a buffer takes it
	_ = w.Close()
	return b.Bytes()
}

func decompress(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// A change of a format needs a new version in testdata, so that what the version before has stored stays readable.
func TestWhatIsWrittenIsTheNewestRecord(t *testing.T) {
	t.Setenv(storagetest.ProductionVariable, "") // the record has cursors of whole pages, and the times of one clock
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			g.skip(t)
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				g.write(w)
				now := w.record()
				newest := g.versions()
				if *write {
					if newest == 0 || !slices.Equal(g.load(t, newest).lines(), now.lines()) {
						g.save(t, newest+1, now)
					}
					return
				}
				for _, d := range differences(g.load(t, newest).lines(), now.lines()) {
					t.Errorf("%.1000s\nwant a new version in testdata: go test ./internal/format -format.write", d)
				}
			})
		})
	}
}

// differences returns the lines that are in one list only.
func differences(stored, now []string) (all []string) {
	for _, line := range stored {
		if i := slices.Index(now, line); i >= 0 {
			now = slices.Delete(slices.Clone(now), i, i+1)
		} else {
			all = append(all, "not written any more: "+line)
		}
	}
	for _, line := range now {
		all = append(all, "not in the record: "+line)
	}
	return all
}

func TestWhatEachVersionHasStoredIsReadAndFinished(t *testing.T) {
	for _, g := range groups {
		for i := range g.versions() {
			t.Run(fmt.Sprint(g.name, " ", i+1), func(t *testing.T) {
				g.skip(t)
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					w.load(g.load(t, i+1))
					g.read(w)
				})
			})
		}
	}
}

// Each file belongs to a group, and README.md names each version.
func TestEveryFileIsListed(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	listed := 0
	for _, g := range groups {
		versions := regexp.MustCompile(`(?m)^\| ` + g.name + ` \| .* \| (1: .*) \|$`).FindSubmatch(readme)
		if versions == nil {
			t.Errorf("README.md does not list group %s", g.name)
			continue
		}
		for i, version := range strings.Split(string(versions[1]), "; ") {
			if !strings.HasPrefix(version, fmt.Sprint(i+1, ": ")) {
				t.Errorf("group %s: %q is not version %d and its commit", g.name, version, i+1)
			}
			g.load(t, i+1)
			listed++
		}
	}
	if listed != len(files) {
		t.Errorf("README.md lists %d files, testdata has %d", listed, len(files))
	}
}

var groups = slices.Concat(storeGroups, operationGroups, messageGroups, entityGroups, largeGroups, logGroups, runGroups, cursorGroups)
