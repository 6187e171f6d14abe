package rules

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// ignored ignores that the programs have no marks of analysistest.
type ignored struct{}

func (ignored) Errorf(string, ...any) {}

var mistake = regexp.MustCompile(`// MISTAKE: `)

// caseOf returns the folder of a case.
func caseOf(file string) string { return strings.Split(file, "/")[2] }

// together runs some rules, and puts the name of the rule in front of each finding.
func together(some func(r *Rule) bool) *analysis.Analyzer {
	a := suite()
	var on []*analysis.Analyzer
	for _, r := range All() {
		if some(r) {
			on = append(on, r.Analyzer())
		}
	}
	a.Run = func(pass *analysis.Pass) (any, error) {
		report := pass.Report
		for _, one := range on {
			named := *pass
			named.Report = func(d analysis.Diagnostic) { d.Category = one.Name; report(d) }
			if _, err := one.Run(&named); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return a
}

// The programs in testdata/cases were held out until the rules were changed for them: every mistake that is found now must be found later.
func TestMistakesOfTheCasesAreFound(t *testing.T) {
	found, findings := measure(t, "cases", "..", "./rules/testdata/cases/...", func(r *Rule) bool { return r != retried && r != quotedKey }) // nearly all of theirs are wrong here
	if found.holds < 119 || findings.of-findings.holds > 2 {
		t.Errorf("fewer mistakes are found than before, %v, or more findings are elsewhere, %v", found, findings)
	}
}

// Likewise for those in testdata/services, which are a module of their own, with the SDK's newest versions.
func TestMistakesOfTheServicesAreFound(t *testing.T) {
	found, findings := measure(t, "services", "testdata/services", "./...", func(r *Rule) bool { return !r.Off })
	if found.holds < 70 || findings.of > findings.holds {
		t.Errorf("fewer mistakes are found than before, %v, or findings are elsewhere, %v", found, findings)
	}
}

// Likewise for those in testdata/heldout. One of them sends its message after the row, which is the mistake of another program.
func TestMistakesOfThePublishedProgramsAreFound(t *testing.T) {
	found, findings := measure(t, "heldout", "testdata/heldout", "./...", func(r *Rule) bool { return !r.Off })
	if found.holds < 116 || findings.of-findings.holds > 5 {
		t.Errorf("fewer mistakes are found than before, %v, or more findings are elsewhere, %v", found, findings)
	}
}

// The figures on mistakes that were written by an author who does not know the rules. No rule has been changed for these programs, which are a
// module of their own, with the SDK's newest versions.
func TestFiguresOfTheHeldOutMistakes(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures, and asserts only the number of the mistakes")
	}
	if mistakes, _ := measure(t, "unseen", "testdata/unseen", "./...", func(r *Rule) bool { return !r.Off }); mistakes.of < 110 {
		t.Errorf("there are %d mistakes", mistakes.of)
	}
}

// measure returns how many mistakes in a corpus some rules find, and how many findings are of them. Each mistake has a program that does it right. It
// is found if a finding is at most three lines from it, or of a rule that finds nothing in the right program. All other findings count as false.
func measure(t *testing.T, corpus, folder, packages string, some func(r *Rule) bool) (mistakes, all share) {
	at := map[string]int{} // the line of the mistake, by its file
	files, err := filepath.Glob("testdata/" + corpus + "/*/wrong/*.go")
	if err != nil {
		t.Fatal(err)
	}
	deeper, _ := filepath.Glob("testdata/" + corpus + "/*/wrong/*/*.go")
	for _, file := range append(files, deeper...) {
		for i, line := range strings.Split(read(t, file), "\n") {
			if mistake.MatchString(line) {
				at[filepath.ToSlash(file)] = i + 1
			}
		}
	}
	type finding struct {
		file, text, rule string
		at               int
	}
	var findings []finding
	inRight := map[string]bool{} // the case, and the rule
	for _, r := range analysistest.Run(ignored{}, folder, together(some), packages) {
		for _, err := range r.Action.Package.Errors { // without types rules find less
			t.Error(err)
		}
		for _, d := range r.Action.Diagnostics {
			p := r.Action.Package.Fset.Position(d.Pos)
			_, file, _ := strings.Cut(filepath.ToSlash(p.Filename), "/rules/")
			findings = append(findings, finding{file, fmt.Sprintf("%s:%d: %s", file, p.Line, d.Category), d.Category, p.Line})
			if strings.Contains(file, "/right/") {
				inRight[caseOf(file)+" "+d.Category] = true
			}
		}
	}
	found, truly := map[string]bool{}, map[string]share{}
	var apart []string // findings that are not of the mistake
	for _, f := range findings {
		line, marked := at[f.file]
		hit := marked && f.at >= line-3 && f.at <= line+3 || strings.Contains(f.file, "/wrong/") && !inRight[caseOf(f.file)+" "+f.rule]
		if hit {
			found[caseOf(f.file)] = true
		} else {
			apart = append(apart, f.text)
		}
		s := truly[f.rule]
		s.add(hit)
		truly[f.rule] = s
		all.add(hit)
	}
	var missed []string
	for file := range at {
		if !found[caseOf(file)] {
			missed = append(missed, caseOf(file))
		}
	}
	slices.Sort(missed)
	slices.Sort(apart)
	mistakes = share{len(found), len(at)}
	t.Logf("%d mistakes, found %v; findings at a mistake %v", len(at), mistakes, all)
	for _, r := range All() {
		if s := truly[r.Name]; s.of > 0 {
			t.Logf("%-14s %v", r.Name, s)
		}
	}
	t.Logf("missed:\n%s", strings.Join(missed, "\n"))
	t.Logf("elsewhere:\n%s", strings.Join(apart, "\n"))
	return mistakes, all
}
