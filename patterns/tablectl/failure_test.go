package tablectl

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestAPermanentErrorNamesTheTableAndLeavesNothing(t *testing.T) {
	acct := demoAccount(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "rows.jsonl")
	text := must(t, exitDone, acct, "export", "-demo", "People", "-").out
	present := writeFile(t, "people.jsonl", text)
	for _, args := range [][]string{
		{"export", "Nothing", path}, {"import", "-aside", path, present, "Nothing"}, {"copy", "-aside", path, "People", "Nothing"},
		{"copy", "-aside", path, "Nothing", "People"}, {"count", "Nothing"}, {"diff", "People", "Nothing"}, {"survey", "Nothing"},
		{"query", "Nothing"}, {"get", "Nothing", "p", "r"}, {"put", "Nothing", text[:strings.Index(text, "\n")]},
		{"rm", "Nothing", "p", "r"},
	} {
		o := must(t, exitFailure, acct, append(args, "-demo")...)
		assert.Contains(t, o.err, "table Nothing: ", args)
		assert.Equal(t, !strings.Contains(o.err, "continues"), true, "advises to continue", args, o.err)
	}
	left := assert.Must(os.ReadDir(dir))(t)
	assert.Equal(t, len(left), 0, "files that are left")
	_, err := os.Stat(present + ".state")
	assert.Equal(t, os.IsNotExist(err), true, "a state is left")
}

func TestARefusedCredentialIsNamed(t *testing.T) {
	server := assert.Must(storagetest.New(t).Serve())(t)
	wrong := strings.Replace(server.ConnectionString(), "AccountKey=", "AccountKey=AAAA", 1)
	t.Setenv("TABLECTL_TEST", wrong)
	o := must(t, exitFailure, nil, "count", "-env", "TABLECTL_TEST", "Rows")
	assert.Contains(t, o.err, "table Rows: ")
	assert.Contains(t, o.err, "is from the environment variable TABLECTL_TEST")
}

// failing is an output that fails after some bytes.
type failing struct {
	left int
	err  error
	then func()
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		if f.then != nil {
			f.then()
		}
		return 0, f.err
	}
	return len(p), nil
}

func TestAFailureOfTheOutputIsOneLine(t *testing.T) {
	acct := demoAccount(t)
	for _, failed := range []struct {
		err  error
		want string
	}{
		{&os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, "tablectl: the program that reads the output has ended\n"},
		{&os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, "tablectl: write /dev/stdout: no space left on device\n"},
	} {
		for _, args := range [][]string{{"export", "-demo", "People", "-"}, {"query", "-demo", "People"}, {"query", "-demo", "-csv", "-select", "Name", "People"}, {"count", "-demo", "People"}} {
			var errs bytes.Buffer
			c := &cli{in: strings.NewReader(""), out: &failing{0, failed.err, nil}, err: &errs, demo: acct}
			assert.Equal(t, c.run(t.Context(), args), exitFailure, args)
			assert.Equal(t, strings.HasSuffix(errs.String(), failed.want), true, args, errs.String())
		}
	}
}

func TestAnInterruptIsOneLine(t *testing.T) {
	acct := storagetest.Start(nil)
	newTable(t, acct, "Source", sampleRows(2500))
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	for _, args := range [][]string{
		{"export", "-demo", "-parallel", "1", "-chunk", "300", "Source", path}, {"dump", "-demo", path + ".backup"}, {"count", "-demo", "Source"}, {"query", "-demo", "Source"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var errs bytes.Buffer
		c := &cli{in: strings.NewReader(""), out: io.Discard, err: &errs, demo: acct}
		cancel()
		assert.Equal(t, c.run(ctx, args), exitFailure, args)
		assert.Equal(t, strings.HasSuffix(errs.String(), "tablectl: interrupted\n"), true, args, errs.String())
	}
}
