package tablectl

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// interruptedImport interrupts an import of 250 rows, and returns its arguments, its file and its state.
func interruptedImport(t *testing.T, acct *storagetest.Account) (args []string, path string, s state) {
	t.Helper()
	newTable(t, acct, "Target", nil)
	path = writeFile(t, "rows.jsonl", textOf(sampleRows(250)))
	args = []string{"import", "-demo", "-parallel", "1", "-chunk", "20", path, "Target"}
	interrupt(t, acct, args)
	text, err := os.ReadFile(path + ".state")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if s.path = path + ".state"; err != nil || s.Line == 0 || s.Line >= 250 {
		t.Fatalf("the command was not interrupted: %+v %v", s, err)
	}
	return args, path, s
}

// interrupt runs a command that fails at its 10th request.
func interrupt(t *testing.T, acct *storagetest.Account, args []string) {
	t.Helper()
	assert.NoError(t, acct.Fault(storagetest.On("*").Nth(10).Times(storagetest.Forever).LoseRequest()))
	synctest.Test(t, func(t *testing.T) { must(t, exitFailure, acct, args...) })
	acct.ClearFaults()
}

func TestAnImportDoesNotContinueInAFileThatHasChanged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(text []byte, offset int64) []byte
		same   bool // size and time
		want   string
	}{
		"before the offset": {func(text []byte, _ int64) []byte { return append([]byte("\n"), text...) }, false, "has changed before line %d"},
		"with the same size and time": {func(text []byte, _ int64) []byte {
			return []byte(strings.Replace(string(text), `"row"`, `"sow"`, 1))
		}, true, "has changed before line %d"},
		"appended": {func(text []byte, _ int64) []byte { return append(text, badLine+"\n"...) }, false, "has changed, but not before line %d"},
		"after the offset": {func(text []byte, offset int64) []byte {
			return append(text[:offset:offset], strings.Replace(string(text[offset:]), `"row"`, `"sow"`, 1)...)
		}, false, "has changed, but not before line %d"},
		"shorter": {func(text []byte, offset int64) []byte { return text[:offset-1] }, false, "has changed before line %d"},
	} {
		t.Run(name, func(t *testing.T) {
			acct := storagetest.Start(nil)
			args, path, s := interruptedImport(t, acct)
			info := assert.Must(os.Stat(path))(t)
			text := assert.Must(os.ReadFile(path))(t)
			at := info.ModTime()
			if !c.same {
				at = at.Add(time.Second)
			}
			assert.NoError(t, os.WriteFile(path, c.change(text, s.Offset), 0o600))
			assert.NoError(t, os.Chtimes(path, at, at))
			before := tableText(t, acct, "Target")
			o := must(t, exitUsage, acct, args...)
			if want := fmt.Sprintf(c.want, s.Line+1); !strings.Contains(o.err, want) || !strings.Contains(o.err, "-force") {
				t.Errorf("%q is not in %s", want, o.err)
			}
			assert.Equal(t, tableText(t, acct, "Target"), before, "the refused command has stored rows")
			if o := tablectl(t, acct, append(args, "-force")...); o.code != exitDone && o.code != exitFound {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestEachRunPrintsWhereItContinues(t *testing.T) {
	acct := storagetest.Start(nil)
	args, path, s := interruptedImport(t, acct)
	if o := must(t, exitDone, acct, args...); !strings.HasPrefix(o.err, fmt.Sprintf("continues at line %d of %s\n", s.Line+1, path)) {
		t.Error(o.err)
	}
	if o := must(t, exitDone, acct, args...); !strings.HasPrefix(o.err, "begins at the start of "+path+"\n") {
		t.Error(o.err)
	}
	assert.Equal(t, tableText(t, acct, "Target"), textOf(sampleRows(250)), "imported")

	newTable(t, acct, "Copy", nil)
	args = []string{"copy", "-demo", "-parallel", "1", "-chunk", "20", "-state", path + ".copy", "Target", "Copy"}
	interrupt(t, acct, args)
	if o := must(t, exitDone, acct, args...); !strings.HasPrefix(o.err, "continues after ") || !strings.Contains(o.err, " rows of Target\n") {
		t.Error(o.err)
	}
	if o := must(t, exitDone, acct, args...); !strings.HasPrefix(o.err, "begins at the start of Target\n") {
		t.Error(o.err)
	}
}

// Such a state has no hash, so the file cannot be verified.
func TestAStateOfAnEarlierVersionIsRefused(t *testing.T) {
	acct := storagetest.Start(nil)
	args, path, s := interruptedImport(t, acct)
	s.Format = 1
	assert.NoError(t, s.save())
	if o := must(t, exitUsage, acct, args...); !strings.Contains(o.err, "another version") || !strings.Contains(o.err, path+".state") {
		t.Error(o.err)
	}
}
