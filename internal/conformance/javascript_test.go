package conformance

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

var (
	//go:embed js/package.json
	jsPackages []byte
	//go:embed js/package-lock.json
	jsLock []byte
)

// TestJavaScript runs the programs of folder js, which use the official JavaScript packages, against an account on
// loopback. It is skipped where npm is missing; see azurite.Variable.
func TestJavaScript(t *testing.T) {
	modules := filepath.Join(azurite.Packages(t, "js", jsPackages, jsLock), "node_modules")
	node, err := exec.LookPath("node")
	assert.NoError(t, err, "npm is installed and node is")
	for _, program := range []string{"tables", "queues", "blobs"} {
		t.Run("storagetest/"+program, func(t *testing.T) {
			server := assert.Must(storagetest.New(t).Serve())(t)
			runNode(t, node, modules, program, server.ConnectionString())
		})
		t.Run("azurite/"+program, func(t *testing.T) {
			runNode(t, node, modules, program, azurite.Shared(t).ConnectionString())
		})
	}
}

// After an update of the packages their requests have to be recorded again; see js/record.cjs.
func TestTheRecordedRequestsMatchTheJavaScriptPackages(t *testing.T) {
	modules := filepath.Join(azurite.Packages(t, "js", jsPackages, jsLock), "node_modules")
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("js", "record.cjs"))
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules, "NODE_OPTIONS=")
	var errorOutput bytes.Buffer
	cmd.Stderr = &errorOutput
	now, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errorOutput.Bytes())
	}
	then := assert.Must(os.ReadFile(filepath.Join("..", "..", "patterns", "storagetest", "internal", "auth", "testdata", "javascript.json")))(t)
	if got, want := unsigned(t, now), unsigned(t, then); !slices.Equal(got, want) {
		t.Errorf("record again as described in js/record.cjs: the packages send\n%s\nthe recording contains\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

var perRequest = regexp.MustCompile(`sig=[^&]*|batch_[-0-9a-f]+`)

// unsigned returns a line for each request of a recording, without the parts that differ each time it is sent.
func unsigned(t *testing.T, recording []byte) []string {
	var all []struct {
		Service, Name, Method, URL string
		Headers                    map[string]string
	}
	assert.NoError(t, json.Unmarshal(recording, &all))
	lines := make([]string, len(all))
	for i, r := range all {
		for _, name := range []string{"authorization", "x-ms-date", "x-ms-client-request-id"} {
			delete(r.Headers, name)
		}
		lines[i] = perRequest.ReplaceAllString(fmt.Sprint(r), "")
	}
	return lines
}

// runNode runs the program and reports each of its steps as a subtest.
func runNode(t *testing.T, node, modules, program, account string) {
	cmd := exec.CommandContext(t.Context(), node, filepath.Join("js", "run.cjs"), program)
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules, "NODE_OPTIONS=", "ACCOUNT="+account)
	steps := stepsOf(t, cmd)
	for name, failure := range steps {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, failure, "")
		})
	}
	if len(steps) < 10 {
		t.Errorf("the program reported %d steps", len(steps))
	}
}

func TestTheLockFilesNameNoDownloadAddress(t *testing.T) {
	azurite.CheckLockFile(t, jsLock)
	azurite.CheckLockFile(t, oldLock)
}
