package main

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/query/vet/rules"
)

func TestExplainListsTheRulesAndPrintsThePageOfEach(t *testing.T) {
	var list strings.Builder
	if err := explain(&list, nil); err != nil {
		t.Fatal(err)
	}
	for _, r := range rules.All() {
		var page strings.Builder
		if err := explain(&page, []string{r.Name}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(list.String(), r.Name+" ") || !strings.Contains(page.String(), "Wrong:") {
			t.Errorf("rule %s: the list is\n%s\nand the page is\n%s", r.Name, &list, &page)
		}
	}
	if err := explain(&list, []string{"tablescam"}); err == nil || !strings.Contains(err.Error(), "no rule") {
		t.Errorf("a name that no rule has: %v", err)
	}
}

func TestOnlyPackagesThatImportTheSDKAreLoaded(t *testing.T) {
	const corpora = "github.com/azpatterns/azpatterns/query/vet/rules/testdata/"
	for _, test := range []struct{ args, targets, loaded []string }{
		{[]string{"std", "./rules/testdata/tablescan"}, []string{corpora + "tablescan"}, []string{corpora + "tablescan"}},
		{[]string{"fmt", "./rules/testdata/externaltest"}, []string{corpora + "externaltest"}, []string{corpora + "externaltest"}},
		{[]string{"fmt"}, nil, nil},
		{[]string{"./rules/testdata/clientpercall"}, []string{corpora + "clientpercall"}, []string{corpora + "clientpercall", corpora + "clientpercall/echo/v4", corpora + "clientpercall/store"}},
		{[]string{"fmt", "./missing"}, nil, nil},
		{[]string{"./rules/testdata/tablescan/tablescan.go"}, []string{listOfFiles}, []string{listOfFiles}},
	} {
		p, err := survey(test.args, true)
		if err != nil {
			t.Fatal(err)
		}
		targets, loaded := slices.Sorted(maps.Keys(p.targets)), slices.Compact(slices.Sorted(maps.Values(p.needed)))
		if !slices.Equal(targets, test.targets) || !slices.Equal(loaded, test.loaded) {
			t.Errorf("of %q %q are checked and %q loaded, want %q and %q", test.args, targets, loaded, test.targets, test.loaded)
		}
	}
}

func TestAPackageWithErrorsIsCheckedAsFarAsItsTypesAreKnown(t *testing.T) {
	var out strings.Builder
	status := run(&out, &out, []string{"./rules/testdata/broken/..."})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if status != 3 || len(lines) != 2 || !strings.Contains(lines[0], "user.go:13:2: the error of this write is dropped") || !strings.Contains(lines[1], "packages with errors, checked as far as their types are known: 1; the first error: ") {
		t.Errorf("status %d, and this output:\n%s", status, &out)
	}
}

func TestTheCommandRunsAloneAndUnderGoVet(t *testing.T) {
	vet := filepath.Join(t.TempDir(), "vet.exe")
	if output, err := exec.Command("go", "build", "-o", vet, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	const corpus = "./rules/testdata/tablescan"
	for _, test := range []struct {
		name string
		args []string
		want string
		fine bool // it exits with status 0
	}{
		{vet, []string{corpus}, "(tablescan, warning)", false},
		{vet, []string{"-json", corpus}, `"tablescan": [`, true},
		{vet, []string{"-explain", "tablescan"}, "# tablescan:", true},
		{vet, []string{"./rules"}, "", true},
		{vet, []string{"-injection", corpus}, "", true},
		{vet, []string{"-tablescan=false", corpus}, "", true},
		{vet, []string{"./missing"}, "packages with errors, checked as far as their types are known: 1", false},
		{vet, []string{"./rules/pages/..."}, "vet: no packages match the arguments", false},
		{vet, []string{"-clientpercall", "./rules/testdata/clientpercall"}, "helper.go:10:16", false},
		{vet, []string{"-fix", "-diff", "./rules/testdata/etagany"}, "&reply.ETag", true},
		{"go", []string{"vet", "-vettool=" + vet, "./rules/testdata/clientpercall"}, "helper.go:10:16", false},
		{"go", []string{"vet", "-vettool=" + vet, "./rules/testdata/injection"}, "followed.go:68:", false}, // with a text of another package
		{"go", []string{"vet", "-vettool=" + vet, corpus}, "(tablescan, warning)", false},
	} {
		output, err := exec.Command(test.name, test.args...).CombinedOutput()
		if !strings.Contains(string(output), test.want) || (err == nil) != test.fine {
			t.Errorf("%v: %v\n%s", test.args, err, output)
		}
	}
}
