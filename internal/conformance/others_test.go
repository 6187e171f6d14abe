package conformance

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// programsVariable is the folder with checkouts of the public programs, each in a folder with the name that others has.
const programsVariable = "AZPATTERNS_PROGRAMS"

var (
	//go:embed js/old/package.json
	oldPackages []byte
	//go:embed js/old/package-lock.json
	oldLock []byte
)

// emulators runs a test on both accounts. The connection string has the ports of the storage emulators if fixed is set, because
// some programs know no others.
func emulators(t *testing.T, fixed bool, run func(t *testing.T, on, connection string)) {
	for _, on := range []string{"storagetest", "azurite"} {
		t.Run(on, func(t *testing.T) {
			connection := ""
			if on == "azurite" {
				connection = azurite.Shared(t).ConnectionString()
			} else {
				connection = assert.Must(storagetest.New(t).Serve())(t).ConnectionString()
			}
			if fixed {
				for service, port := range map[string]string{"Blob": "10000", "Queue": "10001", "Table": "10002"} {
					at := assert.Must(url.Parse(setting(connection, service+"Endpoint")))(t)
					forward(t, "127.0.0.1:"+port, at.Host)
					connection = strings.Replace(connection, at.Host, "127.0.0.1:"+port, 1)
				}
			}
			run(t, on, connection)
		})
	}
}

// setting returns a value of a connection string.
func setting(connection, name string) string {
	for part := range strings.SplitSeq(connection, ";") {
		if value, ok := strings.CutPrefix(part, name+"="); ok {
			return value
		}
	}
	return ""
}

// forward accepts connections at address and forwards their bytes to target, until the test ends.
func forward(t *testing.T, address, target string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("the program needs the port of the storage emulators: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", target)
			if err != nil {
				in.Close()
				continue
			}
			go func() {
				_, _ = io.Copy(out, in) // an end is passed on, whatever its reason
				out.Close()
			}()
			go func() {
				_, _ = io.Copy(in, out)
				in.Close()
			}()
		}
	}()
}

// environment returns the variables with which a program finds the account.
func environment(connection string) []string {
	return append(os.Environ(),
		"ACCOUNT="+connection, "TABLE_STORAGE_CONNECTION_STRING="+connection, "ACCOUNT_NAME="+storagetest.AccountName,
		"ACCOUNT_KEY="+storagetest.AccountKey, "TABLES_URL="+setting(connection, "TableEndpoint"),
		"NODE_OPTIONS=--no-deprecation", "PYTHONDONTWRITEBYTECODE=1", "GOWORK=off")
}

// python returns Debian's interpreter, which alone sees Debian's packages, or skips the test.
func python(t *testing.T) string {
	const interpreter = "/usr/bin/python3"
	if output, err := exec.CommandContext(t.Context(), interpreter, "-c", "import azure.data.tables, azure.storage.queue, azure.storage.blob").CombinedOutput(); err != nil {
		t.Skipf("Debian's package python3-azure-storage is not installed: %s", output)
	}
	return interpreter
}

// packagePrograms returns how to run the programs of py and js/old.
func packagePrograms(t *testing.T, name string) (command []string, modules string) {
	if name == "py" {
		return []string{python(t), filepath.Join("py", "run.py")}, ""
	}
	return []string{"node", filepath.Join("js", "run.cjs")}, filepath.Join(azurite.Packages(t, "js-old", oldPackages, oldLock), "node_modules")
}

// TestPackages runs the programs with the older packages for JavaScript, and with Debian's packages for Python.
func TestPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("packages that the gate does not install")
	}
	for _, o := range others {
		if o.repository != "" {
			continue
		}
		t.Run(o.name, func(t *testing.T) {
			command, modules := packagePrograms(t, o.name)
			emulators(t, false, func(t *testing.T, on, connection string) {
				results := map[string]string{}
				for _, service := range []string{"tables", "queues", "blobs"} {
					argument := service
					if modules != "" {
						argument = "old/" + service
					}
					cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], argument)...)
					cmd.Env = append(environment(connection), "NODE_PATH="+modules)
					for step, failure := range stepsOf(t, cmd) {
						results[service+": "+step] = failure
					}
				}
				o.check(t, on, results)
			})
		})
	}
}

// stepsOf runs a program that prints a line of JSON for each step, and returns the errors by the names of the steps.
func stepsOf(t *testing.T, cmd *exec.Cmd) map[string]string {
	t.Helper()
	var output, errorOutput bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &errorOutput
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errorOutput.Bytes())
	}
	results := map[string]string{}
	for lines := json.NewDecoder(&output); ; {
		var s struct{ Name, Error string }
		err := lines.Decode(&s)
		if errors.Is(err, io.EOF) {
			return results
		}
		assert.NoError(t, err)
		if _, ok := results[s.Name]; ok {
			t.Errorf("two steps have the name %q", s.Name)
		}
		results[s.Name] = s.Error
	}
}

// TestPublicPrograms runs the suites of public programs, from checkouts in the folder that AZPATTERNS_PROGRAMS names.
func TestPublicPrograms(t *testing.T) {
	folder := os.Getenv(programsVariable)
	if folder == "" {
		t.Skipf("%s is not set; README.md names the checkouts", programsVariable)
	}
	for _, o := range others {
		if o.repository == "" {
			continue
		}
		t.Run(o.name, func(t *testing.T) {
			root := assert.Must(filepath.Abs(filepath.Join(folder, o.name)))(t)
			program := o.build(t, root)
			emulators(t, true, func(t *testing.T, on, connection string) {
				cmd := exec.CommandContext(t.Context(), program, "-test.v", "-test.timeout=4m")
				cmd.Dir, cmd.Env = filepath.Join(root, o.folder), environment(connection)
				output, err := cmd.CombinedOutput()
				if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				o.check(t, on, testsOf(t, string(output)))
			})
		})
	}
}

// build links the tests of a program. A file of this repository is added to them without a change of the checkout.
func (o other) build(t *testing.T, root string) string {
	commit := strings.TrimSpace(string(assert.Must(exec.CommandContext(t.Context(), "git", "-C", root, "rev-parse", "HEAD").Output())(t)))
	if !strings.HasPrefix(commit, o.commit) {
		t.Fatalf("%s is at %s, and the results are of %s", root, commit, o.commit)
	}
	program := filepath.Join(t.TempDir(), o.name+".test")
	args := []string{"test", "-c", "-vet=off", "-tags", "azurite", "-o", program}
	if o.suite != "" {
		overlay := filepath.Join(t.TempDir(), "overlay.json")
		added := assert.Must(filepath.Abs(filepath.Join("testdata", "programs", o.suite)))(t)
		content := assert.Must(json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, o.folder, "azpatterns", "suite_test.go"): added}}))(t)
		assert.NoError(t, os.WriteFile(overlay, content, 0o600))
		args = append(args, "-overlay", overlay, "./azpatterns")
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = filepath.Join(root, o.folder), append(os.Environ(), "GOWORK=off", "GOFLAGS=-trimpath -mod=mod")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return program
}

var endOfTest = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (\S+)`)

// testsOf returns the tests without subtests in the output of a test program, with "" for those that passed. Skipped ones are left out.
func testsOf(t *testing.T, output string) map[string]string {
	results := map[string]string{}
	for _, found := range endOfTest.FindAllStringSubmatch(output, -1) {
		switch found[1] {
		case "PASS":
			results[found[2]] = ""
		case "FAIL":
			results[found[2]] = "failed"
		}
	}
	for name := range maps.Clone(results) {
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			delete(results, name[:i])
		}
	}
	if len(results) == 0 {
		t.Fatalf("no test has ended\n%s", output)
	}
	return results
}

// failing returns the steps that fail on one of the accounts.
func (o other) failing(on string) (steps []string) {
	for _, d := range o.differs {
		if !d.random && (d.on == "" || d.on == on) {
			steps = append(steps, d.steps...)
		}
	}
	return steps
}

// check compares the results of the steps with the table.
func (o other) check(t *testing.T, on string, results map[string]string) {
	t.Helper()
	all, expected := o.failing(on), map[string]bool{}
	for _, step := range all {
		expected[step] = true
	}
	for _, d := range o.differs {
		for _, step := range d.steps {
			if d.random {
				delete(results, step)
			}
		}
	}
	passed := 0
	for _, step := range slices.Sorted(maps.Keys(results)) {
		listed := ""
		for _, l := range all {
			if step == l || strings.HasPrefix(step, l+"/") {
				listed = l
			}
		}
		switch {
		case results[step] == "":
			passed++
		case listed == "":
			t.Errorf("%s: %s", step, results[step])
		default:
			delete(expected, listed)
		}
	}
	for step := range expected {
		t.Errorf("%s: listed, but no such step has failed", step)
	}
	if got := (counted{passed, len(results)}); got != o.steps[on] {
		t.Errorf("%d of %d steps have passed, and the table has %v", passed, len(results), o.steps[on])
	}
}

// metadata is how one package writes and reads the metadata of a queue, a container and a blob.
type metadata struct {
	write, read func(name string) map[string]map[string]string
}

// TestEveryPackageReadsTheMetadataOfTheOthers compares the names with their case. The JavaScript package of today has them in lower
// case, and the Go packages as net/http spells them.
func TestEveryPackageReadsTheMetadataOfTheOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("packages that the gate does not install")
	}
	interpreter := python(t)
	newModules := filepath.Join(azurite.Packages(t, "js", jsPackages, jsLock), "node_modules")
	oldModules := filepath.Join(azurite.Packages(t, "js-old", oldPackages, oldLock), "node_modules")
	want := map[string]string{"UP": "Value", "camelCase": "x y", "low_1": "1"}
	emulators(t, false, func(t *testing.T, on, connection string) {
		script := func(modules string, command ...string) metadata {
			run := func(verb, name string) []byte {
				cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], verb, name)...)
				cmd.Env = append(environment(connection), "NODE_PATH="+modules)
				cmd.Stderr = os.Stderr
				return assert.Must(cmd.Output())(t)
			}
			return metadata{
				write: func(name string) map[string]map[string]string { run("write", name); return nil },
				read: func(name string) (found map[string]map[string]string) {
					assert.NoError(t, json.Unmarshal(run("read", name), &found))
					return found
				},
			}
		}
		packages := map[string]metadata{
			"Debian's Python":  script("", interpreter, filepath.Join("py", "run.py"), "metadata"),
			"JavaScript":       script(newModules, "node", filepath.Join("js", "run.cjs"), "metadata"),
			"older JavaScript": script(oldModules, "node", filepath.Join("js", "run.cjs"), "old/metadata"),
			"Go":               goMetadata(t, connection, want),
		}
		spelling := map[string]func(string) string{"JavaScript": strings.ToLower, "Go": canonical}
		for writer, w := range packages {
			name := fmt.Sprintf("m%x", time.Now().UnixNano())
			w.write(name)
			for reader, r := range packages {
				expected := map[string]string{}
				for name, value := range want {
					if spell := spelling[reader]; spell != nil {
						name = spell(name)
					}
					expected[name] = value
				}
				for where, got := range r.read(name) {
					if !maps.Equal(got, expected) {
						t.Errorf("written by %s, the metadata of the %s is read by %s as %v, want %v", writer, where, reader, got, expected)
					}
				}
			}
		}
	})
}
