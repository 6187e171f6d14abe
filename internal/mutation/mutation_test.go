package mutation

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
)

// module writes a module with a function and its test.
func module(t *testing.T) *Suite {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module fixture\n\ngo 1.25\n",
		"abs.go": "package fixture\n\n// Abs returns the absolute value.\nfunc Abs(n int) int {\n\tif n < 0 {\n\t\treturn -n\n\t}\n\treturn n\n}\n",
		"abs_test.go": "package fixture\n\nimport \"testing\"\n\n" +
			"func TestAbs(t *testing.T) {\n\tif Abs(-3) != 3 {\n\t\tt.Error(\"Abs(-3) is not 3\")\n\t}\n" +
			"\tif n := Abs(5); n != 5 {\n\t\tt.Errorf(\"%d requests\", n)\n\t}\n}\n",
		"none/none_test.go": "package none\n",
	} {
		assert.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
		assert.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	return &Suite{Root: root, Packages: []string{"."}, Timeout: 3 * time.Second, Env: []string{"GOFLAGS=-mod=mod"}}
}

func TestEveryOutcomeIsDistinguished(t *testing.T) {
	s := module(t)
	for _, c := range []struct {
		old, new string
		want     Outcome
	}{
		{"return -n", "return n", Killed},
		{"n < 0", "n <= 0", Survived},
		{"\treturn n\n}", "\treturn n + 1\n}", Counted},
		{"return -n", "for {\n\t\t}", TimedOut},
		{"return -n", "return none", NotBuilt},
		{"return -n", "panic(n)", Broke},
	} {
		r, err := s.Try(t.Context(), &Mutant{Name: c.new, File: "abs.go", Old: c.old, New: c.new})
		assert.NoError(t, err)
		assert.Equal(t, r.Outcome, c.want, c.new, r.Output)
		if c.want == Killed {
			assert.Contains(t, r.Assertion, "Abs(-3) is not 3")
		}
	}
	r, err := s.Try(t.Context(), nil)
	assert.NoError(t, err)
	assert.Equal(t, r.Outcome, Survived, "without a mutant")
}

func TestAMutantWhoseTextIsGoneFails(t *testing.T) {
	s := module(t)
	for _, m := range []Mutant{
		{File: "abs.go", Old: "return 7", New: "return 8"},
		{File: "abs.go", Old: "return", New: "continue"},
		{File: "abs.go", Old: "return -n", New: "return -n"},
		{File: "sign.go", Old: "return -n", New: "return n"},
	} {
		if _, err := s.Try(t.Context(), &m); err == nil {
			t.Errorf("%+v was tried", m)
		}
	}
}

func TestASuiteWithoutTestsIsAnError(t *testing.T) {
	s := module(t)
	s.Flags = []string{"-run", "TestSign"}
	if r, err := s.Try(t.Context(), nil); err == nil {
		t.Errorf("tests that do not exist have the outcome %q", r.Outcome)
	}
	// Also if tests of another package fail.
	s.Flags, s.Packages = []string{"-run", "TestAbs"}, []string{".", "./none"}
	if r, err := s.Try(t.Context(), &Mutant{Name: "killed", File: "abs.go", Old: "return -n", New: "return n"}); err == nil {
		t.Errorf("a package without tests has the outcome %q", r.Outcome)
	}
}
