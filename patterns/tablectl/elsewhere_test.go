package tablectl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// A state file is fed values that lead to another table, file or place in a file: the command refuses the
// state, or reads and writes what its arguments name, and nothing else.
func TestAStateLeadsNowhereElse(t *testing.T) {
	foreign := cursorElsewhere(t)
	number := []any{int64(-1), int64(1) << 40, "1"}
	hostile := map[string][]any{
		"Offset": number, "Line": number, "Size": number, "Modified": number, "Written": number, "Aside": number, "Rows": number, "Refused": number,
		"Hash":   {"", "\x1b[2J", strings.Repeat("0", 64)},
		"Job":    {"\x1b[2J", `["import" "elsewhere" "Elsewhere"]`, ""},
		"Format": {0, 1, 3, "\x1b[2J"},
		"Cursor": {"x", "\x1b[2J", strings.Repeat("A", 1<<20), foreign},
		"path":   {"/elsewhere"},
	}
	for name, prepare := range map[string]func(t *testing.T, acct *storagetest.Account) (args []string, state string){
		"import": func(t *testing.T, acct *storagetest.Account) ([]string, string) {
			args, path, _ := interruptedImport(t, acct)
			return args, path + ".state"
		},
		"export": func(t *testing.T, acct *storagetest.Account) ([]string, string) {
			newTable(t, acct, "Source", sampleRows(250))
			path := filepath.Join(t.TempDir(), "rows.jsonl")
			args := []string{"export", "-demo", "-parallel", "1", "-chunk", "20", "Source", path}
			interrupt(t, acct, args)
			return args, path + ".state"
		},
		"copy": func(t *testing.T, acct *storagetest.Account) ([]string, string) {
			newTable(t, acct, "Source", sampleRows(250))
			newTable(t, acct, "Target", nil)
			path := filepath.Join(t.TempDir(), "copy.state")
			args := []string{"copy", "-demo", "-parallel", "1", "-chunk", "20", "-aside", path + ".refused", "-state", path, "Source", "Target"}
			interrupt(t, acct, args)
			return args, path
		},
	} {
		t.Run(name, func(t *testing.T) {
			for field, values := range hostile {
				for _, value := range values {
					acct := storagetest.Start(nil)
					newTable(t, acct, "Elsewhere", sampleRows(3))
					args, path := prepare(t, acct)
					other := filepath.Join(filepath.Dir(path), "other")
					changeState(t, path, field, value)
					assert.NoError(t, os.WriteFile(other, []byte("other"), 0o600))
					acct.ResetLog()
					o := tablectl(t, acct, args...)
					for _, q := range acct.Log() {
						if q.Resource == "Elsewhere" {
							t.Errorf("%s=%.30v: %v", field, value, q)
						}
					}
					if text := strings.ReplaceAll(o.out+o.err, "\n", ""); !azerr.IsPrintable(text) {
						t.Errorf("%s=%.30v: printed %.200q", field, value, text)
					}
					if text, err := os.ReadFile(other); string(text) != "other" {
						t.Errorf("%s=%.30v: another file has %q %v", field, value, text, err)
					}
					for _, file := range filesIn(t, filepath.Dir(path)) {
						if !slices.Contains([]string{"other", "rows.jsonl", "rows.jsonl.state", "rows.jsonl.refused", "copy.state", "copy.state.refused", "Source.refused"}, file) {
							t.Errorf("%s=%.30v: the file %q", field, value, file)
						}
					}
					if n, isInt := value.(int64); isInt && n < 0 && field != "Modified" && o.code != exitUsage {
						t.Errorf("%s=%d: %+v", field, n, o)
					}
				}
			}
		})
	}
}

// cursorElsewhere returns a cursor of another table.
func cursorElsewhere(t *testing.T) (cursor string) {
	acct := storagetest.Start(nil)
	newTable(t, acct, "Elsewhere", sampleRows(50))
	table := openTable(acct.Tables().NewClient("Elsewhere"))
	for page, err := range table.Scan(t.Context(), anyRow, "", &patterns.QueryOptions{PageSize: 10}) {
		assert.NoError(t, err)
		cursor = page.Cursor
		break
	}
	return cursor
}

// changeState changes a field of a state file.
func changeState(t *testing.T, path, field string, value any) {
	t.Helper()
	var s map[string]any
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err == nil {

		s[field] = value
		text, err = json.Marshal(s)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	assert.NoError(t, err)
}

func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	files := assert.Must(os.ReadDir(dir))(t)
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}
