//go:build unix

package main

import (
	"context"
	"encoding/json"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azurite"
)

// Azurite listens there, if it is started as README.md of the module starts it.
const tables = "127.0.0.1:10002"

// elsewhereKey is the key of a second account of Azurite.
const elsewhereKey = "ZWxzZXdoZXJlLCBhIGtleSBvZiAzMiBieXRlcyBvciBtb3Jl"

// connection returns the connection string of an account of Azurite.
func connection(account, key string) string {
	return "DefaultEndpointsProtocol=http;AccountName=" + account + ";AccountKey=" + key + ";TableEndpoint=http://" + tables + "/" + account + ";"
}

// TestTheBackupOfTheReadmeWorksFromAFreshClone starts Azurite, backs up an account and restores it elsewhere by the commands of README.md, in
// a clone of the last commit. It needs npm, the default ports of Azurite, and minutes:
//
//	AZPATTERNS_AZURITE=require go test -run FreshClone ./examples/tablectl
func TestTheBackupOfTheReadmeWorksFromAFreshClone(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	azurite.Shared(t) // whether Azurite is to be used, and can be
	clone := filepath.Join(t.TempDir(), "azpatterns")
	run(t, exec.CommandContext(t.Context(), "git", "clone", "--quiet", "--depth", "1", "file://"+top(t), clone))
	readme := string(assert.Must(os.ReadFile(filepath.Join(clone, "README.md")))(t))
	startAzurite(t, regexp.MustCompile(`(?m)^npx --yes azurite@.*$`).FindString(readme))
	t.Setenv("ELSEWHERE", connection("elsewhere", elsewhereKey))

	command := func(line string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir = clone
		run(t, cmd)
	}
	for _, name := range []string{"Types", "People", "Badges"} {
		command("go run ./examples/tablectl export -demo " + name + " " + name + ".jsonl")
		command("go run ./examples/tablectl import -azurite -create " + name + ".jsonl " + name)
	}
	command("go run ./examples/tablectl tables -azurite create Empty")
	lines := regexp.MustCompile(`(?m)^go run \./examples/tablectl (dump|restore|diff) .*$`).FindAllString(readme, -1)
	if len(lines) != 3 {
		t.Fatalf("the commands of README.md: %q", lines)
	}
	for _, line := range lines {
		command(line)
	}

	want, got := content(t, connection(azurite.AccountName, azurite.AccountKey)), content(t, os.Getenv("ELSEWHERE"))
	if !maps.EqualFunc(want, got, slices.Equal) || len(want) != 4 || len(want["Types"]) != 3 || len(want["People"]) == 0 {
		t.Errorf("got %d tables\n%v\nwant\n%v", len(got), got, want)
	}
}

// top is the folder of the repository.
func top(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(run(t, exec.CommandContext(t.Context(), "git", "rev-parse", "--show-toplevel")))
}

// run runs a command to its end, and returns what it prints.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, output)
	}
	return string(output)
}

// startAzurite runs a command that starts Azurite, with two accounts, and waits until it answers.
func startAzurite(t *testing.T, line string) {
	t.Helper()
	if _, err := net.Dial("tcp", tables); err == nil {
		t.Fatalf("%s is in use: end the Azurite that runs there", tables)
	}
	line, _, _ = strings.Cut(line, "#")
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+line)
	cmd.Env = append(os.Environ(), "AZURITE_ACCOUNTS="+azurite.AccountName+":"+azurite.AccountKey+";elsewhere:"+elsewhereKey)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // npx starts other processes
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var printed strings.Builder
	cmd.Stdout, cmd.Stderr = &printed, &printed
	assert.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	for {
		conn, err := net.Dial("tcp", tables)
		if err == nil {
			assert.NoError(t, conn.Close())
			return
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s: %v\n%s", line, err, printed.String())
		case <-time.After(50 * time.Millisecond): // between two attempts
		}
	}
}

// content returns the rows of all tables as the service returns them, with the types of their properties, without what each
// write changes.
func content(t *testing.T, connection string) map[string][]string {
	t.Helper()
	service := assert.Must(aztables.NewServiceClientFromConnectionString(connection, nil))(t)
	all := map[string][]string{}
	for pager := service.NewListTablesPager(nil); pager.More(); {
		for _, table := range assert.Must(pager.NextPage(t.Context()))(t).Tables {
			rows := []string{}
			for pager := service.NewClient(*table.Name).NewListEntitiesPager(nil); pager.More(); {
				for _, text := range assert.Must(pager.NextPage(t.Context()))(t).Entities {
					var row map[string]json.RawMessage
					assert.NoError(t, json.Unmarshal(text, &row))
					for _, name := range []string{"odata.etag", "Timestamp", "Timestamp@odata.type", "odata.metadata", "azp_stamp", "azp_stamp@odata.type"} {
						delete(row, name)
					}
					rows = append(rows, string(assert.Must(json.Marshal(row))(t)))
				}
			}
			all[*table.Name] = rows
		}
	}
	return all
}
