// Package mutation finds out whether tests notice that a step of the code is missing: it runs them with one changed source file
// at a time, by the flag -overlay of the go command. The files themselves are not touched.
//
// A [Mutant] is data: a text of a file and what replaces it. A [Suite] is the tests that are to fail. [Suite.Check] fails if a
// mutant has another outcome than expected, if a text is not found any more, if the tests fail without a mutant, or if there
// is no mutant.
package mutation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Mutant is a change of a source file.
type Mutant struct {
	Name string
	File string // relative to the module
	Old  string // occurs once in the file
	New  string

	Flags []string // of go test, after those of the suite: for tests that show it soon

	Breaks string // the promise, or the sentence of a document, that does not hold any more

	// Survives is why the tests cannot show it. "" means that they must.
	Survives string
}

// Suite is tests that are to notice mutants.
type Suite struct {
	Root     string   // the folder of the module
	Packages []string // such as "./internal/outbox"
	Flags    []string // of go test, such as "-run", "TestSmallCases"
	Env      []string // in addition to that of this process
	Timeout  time.Duration

	// Assertion matches what a failed check prints. A mutant that makes the tests fail in another way is [Broke]. nil means any
	// line that begins with the position of a test.
	Assertion *regexp.Regexp
}

// counts matches an assertion that compares numbers of requests, as those of package harness.
var counts = regexp.MustCompile(`\d: (\d+ )?requests?\b|\brequests?(: got|, want)\b`)

// Outcome is what the tests made of a mutant.
type Outcome string

// The outcomes.
const (
	Killed   Outcome = "killed"        // by an assertion
	Survived Outcome = "survived"      // the tests passed
	Counted  Outcome = "requests only" // they failed, but only because the number of requests differs
	TimedOut Outcome = "timeout"       // they did not end in time
	NotBuilt Outcome = "not built"     // the changed code does not compile
	Broke    Outcome = "broke"         // they failed, but not by an assertion
)

// Result is the outcome of a mutant, and what shows it.
type Result struct {
	Outcome
	Assertion string // the first text that matched, and does not only count requests
	Output    string
	Took      time.Duration
}

var position = regexp.MustCompile(`(?m)^\s+\w+_test\.go:\d+: .*$`)

// Try runs the tests with a mutant, nil for none. An error means that there is no outcome.
func (s *Suite) Try(ctx context.Context, m *Mutant) (Result, error) {
	args := []string{"test", "-vet=off", "-count=1", fmt.Sprintf("-timeout=%v", s.Timeout)}
	flags := s.Flags
	if m != nil {
		flags = append(slices.Clone(flags), m.Flags...)
		folder, err := os.MkdirTemp("", "mutant")
		if err != nil {
			return Result{}, err
		}
		defer func() { _ = os.RemoveAll(folder) }()
		overlay, err := m.overlay(s.Root, folder)
		if err != nil {
			return Result{}, err
		}
		args = append(args, "-overlay="+overlay)
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout+10*time.Minute) // of the compiler
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", slices.Concat(args, s.Packages, flags)...)
	cmd.Dir, cmd.Env = s.Root, append(os.Environ(), s.Env...)
	began := time.Now()
	output, err := cmd.CombinedOutput()
	r := Result{Output: string(output), Took: time.Since(began)}
	var failed *exec.ExitError
	switch {
	case strings.Contains(r.Output, "[no tests to run]"): // of any of the packages
		return r, fmt.Errorf("there are no such tests:\n%s", output)
	case ctx.Err() != nil:
		r.Outcome = TimedOut
	case err == nil:
		r.Outcome = Survived
	case !errors.As(err, &failed):
		return r, err
	default:
		r.judge(s.Assertion)
	}
	return r, nil
}

// judge fills in the outcome of tests that failed.
func (r *Result) judge(assertion *regexp.Regexp) {
	if assertion == nil {
		assertion = position
	}
	switch {
	case strings.Contains(r.Output, "panic: test timed out"):
		r.Outcome = TimedOut
	case strings.Contains(r.Output, "[build failed]"), strings.Contains(r.Output, "[setup failed]"):
		r.Outcome = NotBuilt
	default:
		all := assertion.FindAllString(r.Output, -1)
		if strings.Contains(r.Output, "\npanic: ") { // what a test has logged before looks like an assertion
			all = nil
		}
		named := slices.IndexFunc(all, func(text string) bool { return !counts.MatchString(text) })
		switch {
		case named >= 0:
			r.Outcome, r.Assertion = Killed, strings.TrimSpace(all[named])
		case len(all) > 0:
			r.Outcome, r.Assertion = Counted, strings.TrimSpace(all[0])
		default:
			r.Outcome = Broke
		}
	}
}

// Source returns the path of the file and its text with the mutant. It fails if the text to be replaced does not occur once.
func (m *Mutant) Source(root string) (path, text string, err error) {
	if root, err = filepath.Abs(root); err != nil {
		return "", "", err
	}
	path = filepath.Join(root, filepath.FromSlash(m.File))
	original, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	if n := strings.Count(string(original), m.Old); n != 1 || m.Old == m.New {
		return "", "", fmt.Errorf("mutant %q: %s contains its text %d times, want once, and another text in its place", m.Name, m.File, n)
	}
	return path, strings.Replace(string(original), m.Old, m.New, 1), nil
}

// overlay writes the changed file and the overlay that names it to a folder.
func (m *Mutant) overlay(root, folder string) (file string, err error) {
	path, text, err := m.Source(root)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(folder, "changed.go")
	replaces, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return "", err
	}
	file = filepath.Join(folder, "overlay.json")
	err = os.WriteFile(changed, []byte(text), 0o600)
	return file, errors.Join(err, os.WriteFile(file, replaces, 0o600))
}

// Check runs the tests with each mutant, and those that are selected for it before also without a mutant. It logs one line for
// each mutant.
func (s *Suite) Check(t *testing.T, mutants []Mutant) {
	t.Helper()
	if len(mutants) == 0 {
		t.Fatal("there are no mutants")
	}
	healthy := map[string]bool{} // by the flags
	killed := 0
	for i := range mutants {
		m := &mutants[i]
		if flags := strings.Join(m.Flags, " "); !healthy[flags] {
			none := *s
			none.Flags = append(slices.Clone(s.Flags), m.Flags...)
			r, err := none.Try(t.Context(), nil)
			if err != nil || r.Outcome != Survived {
				t.Fatalf("the tests fail without a mutant, with the flags %s: %s %v\n%s", flags, r.Outcome, err, r.Output)
			}
			healthy[flags] = true
		}
		r, err := s.Try(t.Context(), m)
		want := Killed
		if m.Survives != "" {
			want = Survived
		}
		switch {
		case err != nil:
			t.Errorf("%s: %v", m.Name, err)
			continue
		case r.Outcome != want:
			t.Errorf("%s: %s, want %s; it breaks: %s\n%s", m.Name, r.Outcome, want, m.Breaks, r.Output)
		}
		if r.Outcome == Killed {
			killed++
		}
		t.Logf("%-9s %4.0f s  %s  %s%s", r.Outcome, r.Took.Seconds(), m.Name, r.Assertion, m.Survives)
	}
	if killed == 0 {
		t.Error("no mutant was killed")
	}
	t.Logf("%d of %d mutants killed", killed, len(mutants))
}
