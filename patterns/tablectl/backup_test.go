package tablectl

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The commands of README.md.
func TestABackupRestoredElsewhereHasAllTypesAndRows(t *testing.T) {
	onBoth(t, func(t *testing.T, variable string) {
		types := writeFile(t, "types.jsonl", must(t, exitDone, nil, "export", "-demo", "Types", "-").out)
		rows := writeFile(t, "rows.jsonl", textOf(sampleRows(1500)))
		first, second, empty := harness.UniqueName(), harness.UniqueName(), harness.UniqueName()
		must(t, exitDone, nil, "import", "-env", variable, "-create", types, first)
		must(t, exitDone, nil, "import", "-env", variable, "-create", rows, second)
		must(t, exitDone, nil, "tables", "-env", variable, "create", empty)
		for _, place := range []string{filepath.Join(t.TempDir(), "backup"), "blob:" + harness.UniqueName() + "/monday"} {
			elsewhere := assert.Must(storagetest.New(t).Serve())(t)
			t.Setenv("TABLECTL_OTHER", elsewhere.ConnectionString())
			must(t, exitDone, nil, "dump", "-env", variable, place, first, second, empty)
			o := must(t, exitDone, nil, "restore", "-env", "TABLECTL_OTHER", "-blob-env", variable, place)
			assert.Contains(t, o.out, "3 tables, 1503 rows, 0 present, 0 refused")
			for _, name := range []string{first, second, empty} {
				must(t, exitDone, nil, "diff", "-env", variable, "-to-env", "TABLECTL_OTHER", name, name)
			}
		}
	})
}

func TestABackupWithoutItsManifestIsNotRestored(t *testing.T) {
	acct := demoAccount(t)
	dir := filepath.Join(t.TempDir(), "backup")
	assert.Equal(t, must(t, exitDone, acct, "dump", "-demo", dir).out, "3 tables, 31 rows\n")
	o := must(t, exitUsage, acct, "dump", "-demo", dir)
	assert.Contains(t, o.err, "contains a complete backup")
	must(t, exitDone, acct, "dump", "-demo", "-force", dir, "Types")
	assert.Equal(t, must(t, exitDone, acct, "restore", "-demo", dir).out, "1 table, 3 rows, 3 present, 0 refused\n")

	must(t, exitDone, acct, "tables", "-demo", "drop", "-yes", "Types")
	assert.Contains(t, must(t, exitUsage, acct, "restore", "-demo", dir, "People").err, "not all of these tables")
	text := assert.Must(os.ReadFile(filepath.Join(dir, manifestName)))(t)
	file := filepath.Join(dir, "Types.jsonl.gz")
	whole := assert.Must(os.ReadFile(file))(t)
	for name, change := range map[string]func() error{
		"no manifest": func() error { return os.Remove(filepath.Join(dir, manifestName)) },
		"a name that leads elsewhere": func() error {
			hostile := strings.Replace(string(text), `"Types"`, `"../backup/Types"`, 1)
			return os.WriteFile(filepath.Join(dir, manifestName), []byte(hostile), 0o600)
		},
		"a file that was changed": func() error {
			return os.WriteFile(file, append(whole[:len(whole)-1:len(whole)-1], whole[len(whole)-1]^1), 0o600)
		},
		"a file that is missing": func() error { return os.Remove(file) },
	} {
		t.Run(name, func(t *testing.T) {
			assert.NoError(t, os.WriteFile(filepath.Join(dir, manifestName), text, 0o600))
			assert.NoError(t, os.WriteFile(file, whole, 0o600))
			assert.NoError(t, change())
			if o := tablectl(t, acct, "restore", "-demo", dir); o.code != exitUsage && o.code != exitFailure || o.out != "" {
				t.Errorf("%+v", o)
			}
			assert.Equal(t, must(t, exitDone, acct, "tables", "-demo", "list").out, "Badges\nPeople\n2 tables\n", "nothing was written")
		})
	}
}

func TestATableIsDumpedOnceWhateverTheCaseOfItsName(t *testing.T) {
	acct := demoAccount(t)
	dir := filepath.Join(t.TempDir(), "backup")
	assert.Equal(t, must(t, exitDone, acct, "dump", "-demo", dir, "Types", "types").out, "1 table, 3 rows\n")
	assert.Equal(t, must(t, exitDone, acct, "restore", "-demo", dir).out, "1 table, 3 rows, 3 present, 0 refused\n")
}

func TestForceReplacesABackupInAContainer(t *testing.T) {
	acct := demoAccount(t)
	assert.Equal(t, must(t, exitDone, acct, "dump", "-demo", "-force", "blob:backups/monday").out, "3 tables, 31 rows\n")
	assert.Equal(t, must(t, exitDone, acct, "dump", "-demo", "-force", "blob:backups/monday", "Types").out, "1 table, 3 rows\n")
	assert.Contains(t, must(t, exitUsage, acct, "dump", "-demo", "blob:backups/monday").err, "contains a complete backup")
	assert.Equal(t, must(t, exitDone, acct, "restore", "-demo", "blob:backups/monday").out, "1 table, 3 rows, 3 present, 0 refused\n")
}

func TestADumpContinuesOnlyThatOfTheSameCommand(t *testing.T) {
	acct := storagetest.Start(nil)
	newTable(t, acct, "First", sampleRows(20))
	dir := t.TempDir()
	o := must(t, exitFailure, acct, "dump", "-demo", dir, "First", "Missing")
	assert.Contains(t, o.err, "table Missing: ")
	assert.Contains(t, o.err, "continues after 1 table\n")
	_, err := os.Stat(filepath.Join(dir, "Missing.jsonl.gz"))
	assert.Equal(t, os.IsNotExist(err), true, "a file of a table that cannot be read")
	assert.Contains(t, must(t, exitUsage, acct, "dump", "-demo", dir, "First").err, "of another command")
	newTable(t, acct, "Missing", sampleRows(3))
	acct.ResetLog()
	o = must(t, exitDone, acct, "dump", "-demo", dir, "First", "Missing")
	assert.Equal(t, o.out, "2 tables, 23 rows\n")
	assert.Contains(t, o.err, "continues after 1 table\n")
	assert.Equal(t, len(acct.Log()), 1, "requests")
	var m manifest
	assert.NoError(t, json.Unmarshal(assert.Must(os.ReadFile(filepath.Join(dir, manifestName)))(t), &m))
	assert.Equal(t, len(m.Tables), 2, "tables of the manifest")
}

func TestARestoreContinuesWhereItWasInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct, elsewhere, dir := storagetest.Start(nil), storagetest.Start(nil), t.TempDir()
		rows := map[string]int{"First": 200, "Second": 300, "Third": 10}
		for name, n := range rows {
			newTable(t, acct, name, sampleRows(n))
		}
		must(t, exitDone, acct, "dump", "-demo", dir, "First", "Second", "Third")
		path := filepath.Join(t.TempDir(), "restore.state")
		args := []string{"restore", "-demo", "-parallel", "1", "-chunk", "50", "-state", path, dir}

		// The first table takes about ten transactions.
		elsewhere.Fault(storagetest.On("Table.Batch").Nth(14).Times(storagetest.Forever).LoseRequest())
		o := must(t, exitFailure, elsewhere, args...)
		assert.Contains(t, o.err, "the same command continues from "+path)
		elsewhere.ClearFaults()
		var s state
		saved := assert.Must(os.ReadFile(path))(t)
		assert.NoError(t, json.Unmarshal(saved, &s))
		if s.Tables != 1 || s.Offset == 0 || s.Rows <= 200 || s.Rows >= 500 {
			t.Fatalf("the command was interrupted at %+v", s)
		}

		assert.Contains(t, must(t, exitUsage, elsewhere, "restore", "-demo", "-mode", "replace", "-state", path, dir).err, "not the state of this command")
		changeState(t, path, "Hash", strings.Repeat("0", 64))
		assert.Contains(t, must(t, exitUsage, elsewhere, args...).err, "has changed before line")
		assert.NoError(t, os.WriteFile(path, saved, 0o600))

		elsewhere.ResetLog()
		o = must(t, exitDone, elsewhere, args...)
		assert.Contains(t, o.out, "3 tables, 510 rows, ")
		assert.Contains(t, o.err, fmt.Sprintf("continues after 1 table, %d rows\n", s.Rows))
		for _, q := range elsewhere.Log() {
			if q.Resource == "First" {
				t.Errorf("%v", q)
			}
		}
		for name, n := range rows {
			assert.Equal(t, tableText(t, elsewhere, name), textOf(sampleRows(n)), name)
		}
	})
}
