package importrules

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEveryPackageKeepsTheImportRules(t *testing.T) {
	packages := list(t)
	for _, p := range packages {
		for _, breach := range breaches(p) {
			t.Error(breach)
		}
	}
	for _, want := range []string{"/keys", "/query", "/patterns", "/internal/azerr", "/internal/edm", "/internal/wire"} {
		if !slices.ContainsFunc(packages, func(p pkg) bool { return p.ImportPath == module+want }) {
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
		"azerr imports edm":            {imports("internal/azerr", "internal/edm"), "must not import"},
		"edm imports wire":             {imports("internal/edm", "internal/wire"), "must not import"},
		"edm imports azerr":            {imports("internal/edm", "internal/azerr"), ""},
		"wire imports edm":             {imports("internal/wire", "internal/edm"), ""},
		"wire imports keys":            {imports("internal/wire", "keys"), "must not import"},
		"core imports wire":            {imports("patterns", "internal/wire"), ""},
		"core imports a pattern":       {imports("patterns", "patterns/logtail"), "must not import"},
		"a pattern imports the core":   {imports("patterns/logtail", "patterns"), ""},
		"a pattern imports a pattern":  {imports("patterns/reindex", "patterns/logtail"), "must not import"},
		"a pattern imports the fake":   {imports("patterns/reindex", "patterns/storagetest"), "must not import"},
		"the fake imports the core":    {imports("patterns/storagetest", "patterns"), "must not import"},
		"an example imports all":       {imports("examples/quickstart", "patterns/logtail", "internal/azurite"), ""},
		"a pattern imports a bed":      {imports("patterns/logtail", "internal/harness"), "must not import"},
		"logtail links azqueue":        {links("patterns/logtail", azqueue), "must not link"},
		"logtail links part of azblob": {links("patterns/logtail", azblob+"/container"), "must not link"},
		"logdata links azblob":         {links("patterns/logdata", azblob), ""},
		"logdata links azqueue":        {links("patterns/logdata", azqueue), "must not link"},
		"the core links testing":       {links("patterns", "testing"), "must not link"},
		"the core links azidentity":    {links("patterns", azident), "must not link"},
		"an unknown folder":            {imports("util"), "no layer"},
	} {
		got := strings.Join(breaches(c.p), "\n")
		if c.finds == "" && got != "" || !strings.Contains(got, c.finds) {
			t.Errorf("%s: found %q, want %q", name, got, c.finds)
		}
	}
}

func imports(from string, to ...string) pkg {
	p := pkg{ImportPath: module + "/" + from}
	for _, path := range to {
		p.Imports = append(p.Imports, module+"/"+path)
	}
	return p
}

func links(from, dep string) pkg { return pkg{ImportPath: module + "/" + from, Deps: []string{dep}} }

// list runs `go list` for the module. It accesses the source files first: the go tool caches the result of a passed test
// until a file changes that the test process itself has accessed.
func list(t *testing.T) []pkg {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		_, err = os.Stat(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Deps", "./...")
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
