package tablectl

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// kills is the number of runs that TestAKilledCommandLosesAndDuplicatesNothing interrupts.
const kills = 200

// TestAKilledCommandLosesAndDuplicatesNothing kills each command at a random request, before or after it is
// carried out, up to three times, and then lets it end. What a process writes to files after it has saved its state
// is arbitrary, so a kill also appends a torn line.
func TestAKilledCommandLosesAndDuplicatesNothing(t *testing.T) {
	commands := []func(*testing.T, *killer){killExport, killImport("replace"), killImport("insert"), killImport("merge"), killCopy("replace"), killCopy("insert"), killVerify, killRepair, killDump, killRestore}
	killed := 0
	most := kills
	if testing.Short() {
		most /= 4
	}
	for seed := uint64(0); killed < most; seed++ {
		command := commands[seed%uint64(len(commands))]
		ok := t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &killer{Rand: rand.New(rand.NewPCG(seed, 0))}
				command(t, r)
				killed += r.killed
			})
		})
		if !ok {
			return
		}
	}
}

const badLine = `{"PartitionKey":"p"}`

// killer interrupts commands.
type killer struct {
	*rand.Rand
	killed  int    // runs that were interrupted
	printed string // by all runs
}

// run runs a command until it ends, and returns how that run ended. files are those that it writes.
func (k *killer) run(t *testing.T, acct *storagetest.Account, files []string, args ...string) output {
	args = append([]string{args[0], "-demo", "-parallel", "3"}, args[1:]...)
	if !slices.Contains([]string{"verify", "repair", "dump", "restore"}, args[0]) {
		args = append(args, "-chunk", "20")
	}
	for try := 0; ; try++ {
		if try < 3 {
			n := 1 + k.IntN(30)
			lost := storagetest.On("*").Nth(n)
			if k.IntN(2) == 0 {
				lost = lost.LoseReply()
			} else {
				lost = lost.LoseRequest()
			}
			assert.NoError(t, acct.Fault(lost, storagetest.On("*").Nth(n+1).Times(storagetest.Forever).LoseRequest()))
		}
		o := tablectl(t, acct, args...)
		acct.ClearFaults()
		k.printed += o.out
		if o.code != exitFailure {
			return o
		}
		k.killed++
		for _, file := range files {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			if os.IsNotExist(err) {
				continue
			}
			if _, err2 := f.WriteString(badLine[:k.IntN(len(badLine))]); err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			f.Close()
		}
	}
}

func killExport(t *testing.T, k *killer) {
	acct := storagetest.Start(nil)
	rows := sampleRows(250)
	newTable(t, acct, "Source", rows)
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	o := k.run(t, acct, []string{path, path + ".state.tmp"}, "export", "Source", path)
	if o.code != exitDone || !strings.HasPrefix(o.out, "250 rows") {
		t.Fatalf("%+v", o)
	}
	assert.Equal(t, fileText(t, path), textOf(rows), "exported")
	wantNoState(t, path)
}

func killImport(mode string) func(*testing.T, *killer) {
	return func(t *testing.T, k *killer) {
		acct := storagetest.Start(nil)
		newTable(t, acct, "Target", nil)
		rows := sampleRows(250)
		lines := strings.SplitAfter(textOf(rows), "\n")
		for _, at := range []int{200, 100, 3} {
			lines = append(lines[:at], append([]string{badLine + "\n"}, lines[at:]...)...)
		}
		path := writeFile(t, "rows.jsonl", strings.Join(lines, ""))
		o := k.run(t, acct, []string{path + ".refused", path + ".state.tmp"}, "import", "-mode", mode, path, "Target")
		if o.code != exitFound || !strings.HasPrefix(o.out, "250 rows") || !strings.Contains(o.out, "3 refused") {
			t.Fatalf("%+v", o)
		}
		assert.Equal(t, tableText(t, acct, "Target"), textOf(rows), "imported")
		refused, err := os.ReadFile(path + ".refused")
		if want := strings.Repeat(badLine+"\n", 3); err != nil || string(refused) != want {
			t.Errorf("refused\n%s%v", refused, err)
		}
		wantNoState(t, path)
	}
}

func killCopy(mode string) func(*testing.T, *killer) {
	return func(t *testing.T, k *killer) {
		acct := storagetest.Start(nil)
		rows := sampleRows(250)
		newTable(t, acct, "Source", rows)
		newTable(t, acct, "Target", nil)
		path := filepath.Join(t.TempDir(), "copy")
		o := k.run(t, acct, []string{path + ".state.tmp"}, "copy", "-mode", mode, "-state", path+".state", "-aside", path, "Source", "Target")
		if o.code != exitDone || !strings.HasPrefix(o.out, "250 rows") {
			t.Fatalf("%+v", o)
		}
		assert.Equal(t, tableText(t, acct, "Target"), textOf(rows), "copied")
		wantNoState(t, path)
	}
}

// killDump kills the backup of several tables to a container or a folder. Only a manifest makes it complete.
func killDump(t *testing.T, k *killer) {
	acct := storagetest.Start(nil)
	tables := map[string][]row{"First": sampleRows(150), "Second": nil, "Third": sampleRows(60)}
	for name, rows := range tables {
		newTable(t, acct, name, rows)
	}
	place := filepath.Join(t.TempDir(), "backup")
	if k.IntN(2) == 0 {
		place = "blob:backup/monday"
	}
	o := k.run(t, acct, nil, "dump", place)
	assert.Equal(assert.Now(t), o.code, exitDone, o)
	assert.Equal(t, o.out, "3 tables, 210 rows\n")
	for name := range tables {
		must(t, exitDone, acct, "tables", "-demo", "drop", "-yes", name)
	}
	time.Sleep(time.Minute) // until the tables are deleted
	must(t, exitDone, acct, "restore", "-demo", place)
	for name, rows := range tables {
		assert.Equal(t, tableText(t, acct, name), textOf(rows), "restored", name)
	}
}

func killRestore(t *testing.T, k *killer) {
	acct := storagetest.Start(nil)
	rows := sampleRows(250)
	newTable(t, acct, "Source", rows)
	newTable(t, acct, "Other", rows[:30])
	must(t, exitDone, acct, "dump", "-demo", "blob:backup")
	must(t, exitDone, acct, "tables", "-demo", "drop", "-yes", "Source", "Other")
	time.Sleep(time.Minute) // until the tables are deleted
	path := filepath.Join(t.TempDir(), "restore.state")
	o := k.run(t, acct, []string{path + ".tmp"}, "restore", "-state", path, "-chunk", "20", "blob:backup")
	assert.Equal(assert.Now(t), o.code, exitDone, o)
	assert.Contains(t, o.out, "2 tables, 280 rows, ")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the state is kept: %v", err)
	}
	assert.Equal(t, tableText(t, acct, "Source"), textOf(rows), "restored")
	assert.Equal(t, tableText(t, acct, "Other"), textOf(rows[:30]), "restored")
}

// orphans are what verify finds in the samples of -demo.
const orphans = 4

func killVerify(t *testing.T, k *killer) {
	acct := demoAccount(t)
	path := filepath.Join(t.TempDir(), "verify")
	o := k.run(t, acct, []string{path + ".state.tmp"}, "verify", "-state", path+".state", "people")
	assert.Equal(assert.Now(t), o.code, exitFound)
	assert.Contains(assert.Now(t), o.out, "28 rows")
	found := map[string]bool{}
	for line := range strings.Lines(k.printed) {
		if strings.HasPrefix(line, "orphan") {
			found[line] = true
		}
	}
	assert.Equal(t, len(found), orphans, "verify has printed", k.printed)
	wantNoState(t, path)
}

func killRepair(t *testing.T, k *killer) {
	acct := demoAccount(t)
	path := filepath.Join(t.TempDir(), "repair")
	o := k.run(t, acct, []string{path + ".state.tmp"}, "repair", "-state", path+".state", "people")
	assert.Equal(assert.Now(t), o.code, exitDone)
	assert.Contains(assert.Now(t), o.out, "28 rows")
	must(t, exitDone, acct, "verify", "-demo", "people")
	wantNoState(t, path)
}

func TestVerifyDoesNotReadAgainWhatItHasRead(t *testing.T) {
	acct := demoAccount(t)
	path := filepath.Join(t.TempDir(), "verify")
	args := []string{"verify", "-demo", "-parallel", "1", "-state", path, "people"}
	acct.ResetLog()
	must(t, exitFound, acct, args...)
	whole := len(acct.Log())
	// The last request is lost, and all tries to send it again.
	assert.NoError(t, acct.Fault(storagetest.On("*").Nth(whole).LoseRequest(), storagetest.On("*").Nth(whole+1).Times(storagetest.Forever).LoseRequest()))
	synctest.Test(t, func(t *testing.T) {
		assert.Contains(t, must(t, exitFailure, acct, args...).err, "continues from "+path)
	})
	acct.ClearFaults()
	acct.ResetLog()
	must(t, exitFound, acct, args...)
	if rest := len(acct.Log()); rest >= whole {
		t.Errorf("%d requests, a whole run makes %d", rest, whole)
	}
}

// The file has the refused rows of a copy of the same table.
func TestAnExportLeavesTheFileOfRefusedRowsAlone(t *testing.T) {
	acct := storagetest.Start(nil)
	newTable(t, acct, "Source", sampleRows(250))
	t.Chdir(t.TempDir())
	assert.NoError(t, os.WriteFile("Source.refused", []byte("precious"), 0o600))
	args := []string{"export", "-demo", "-parallel", "1", "-chunk", "20", "Source", "rows.jsonl"}
	interrupt(t, acct, args)
	must(t, exitDone, acct, args...)
	assert.Equal(t, string(assert.Must(os.ReadFile("Source.refused"))(t)), "precious")
	assert.Equal(t, fileText(t, "rows.jsonl"), textOf(sampleRows(250)), "exported")
}

func wantNoState(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path + ".state"); !os.IsNotExist(err) {
		t.Errorf("the state is still there: %v", err)
	}
}
