package importrules

import (
	"bytes"
	"encoding/json"
	"errors"
	"github.com/azpatterns/azpatterns/internal/assert"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEveryPackageKeepsTheRules(t *testing.T) {
	packages := list(t)
	for _, p := range packages {
		for _, breach := range breaches(p) {
			t.Error(breach)
		}
	}
	for _, leftover := range leftovers(packages) {
		t.Error(leftover)
	}
	for _, want := range []string{"keys", "query", "patterns", "internal/wire"} {
		if !slices.ContainsFunc(packages, func(p pkg) bool { return p.path() == want }) {
			t.Errorf("%s was not checked", want)
		}
	}
}

func TestTheRulesFindABreach(t *testing.T) {
	for name, c := range map[string]struct {
		p     pkg
		finds string // "" for nothing
	}{
		"keys imports query":           {imports("keys", "query"), "must not import"},
		"query imports keys":           {imports("query", "keys"), ""},
		"query imports wire":           {imports("query", "internal/wire"), "must not import"},
		"core imports wire":            {imports("patterns", "internal/wire"), ""},
		"core imports a pattern":       {imports("patterns", "patterns/logtail"), "must not import"},
		"a pattern imports the core":   {imports("patterns/logtail", "patterns"), ""},
		"a pattern imports a pattern":  {imports("patterns/logtail", "patterns/eventual"), "must not import"},
		"a pattern imports the fake":   {imports("patterns/logtail", "patterns/storagetest"), "must not import"},
		"a pattern imports wire":       {imports("patterns/logtail", "internal/wire"), "it is a pattern package"},
		"the fake imports the core":    {imports("patterns/storagetest", "patterns"), "must not import"},
		"a new package imports keys":   {imports("util", "keys"), "must not import"},
		"logtail links azqueue":        {links("patterns/logtail", azqueue), "must not link"},
		"logtail links part of azblob": {links("patterns/logtail", azblob+"/container"), "must not link"},
		"logdata links azblob":         {links("patterns/logdata", azblob), ""},
		"logdata links azqueue":        {links("patterns/logdata", azqueue), "must not link"},
		"keys links the SDK":           {links("keys", sdk+"/azcore"), "must not link"},
		"query links the SDK":          {links("query", sdk+"/internal/errorinfo"), "must not link"},
		"the core links the SDK":       {links("patterns", sdk+"/azcore"), ""},
		"the core links testing":       {links("patterns", "testing"), "must not link"},
		"the core links azidentity":    {links("patterns", azident), "must not link"},
		"an example links azidentity":  {links("examples/internal/account", azident), ""},
		"a test kit links rapid":       {links("patterns/storagetest", "pgregory.net/rapid"), "must not link"},
		"25 files":                     {pkg{ImportPath: module + "/keys", GoFiles: make([]string, 25), IgnoredGoFiles: []string{"a_test.go"}}, ""},
		"26 files":                     {pkg{ImportPath: module + "/keys", GoFiles: make([]string, 25), IgnoredGoFiles: []string{"a_windows.go"}}, "has 26 files"},
	} {
		got := strings.Join(breaches(c.p), "\n")
		if c.finds == "" && got != "" || !strings.Contains(got, c.finds) {
			t.Errorf("%s: found %q, want %q", name, got, c.finds)
		}
	}
}

func TestTheRulesFindALeftover(t *testing.T) {
	packages := list(t)
	if found := leftovers(packages); len(found) > 0 {
		t.Fatal(found)
	}
	for i, p := range packages {
		if p.path() == "query" {
			packages[i].Imports = nil
		}
	}
	got := strings.Join(leftovers(packages), "\n")
	assert.Contains(t, got, "query does not import keys: remove the edge", "found")
}

func imports(from string, to ...string) pkg {
	p := pkg{ImportPath: module + "/" + from}
	for _, path := range to {
		p.Imports = append(p.Imports, module+"/"+path)
	}
	return p
}

func links(from, dep string) pkg { return pkg{ImportPath: module + "/" + from, Deps: []string{dep}} }

// list runs `go list` on the module. It reads the source files first, because the go tool caches the result of a test
// until a file changes that the test itself has read.
func list(t *testing.T) []pkg {
	t.Helper()
	root, err := filepath.Abs("../..")
	assert.NoError(t, err)
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		_, err = os.Stat(path)
		return err
	})
	assert.NoError(t, err)
	var stderr bytes.Buffer
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,GoFiles,IgnoredGoFiles,Imports,Deps", "./...")
	cmd.Dir, cmd.Stderr = root, &stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var packages []pkg
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.ImportPath, module+"/") {
			packages = append(packages, p)
		}
	}
}
