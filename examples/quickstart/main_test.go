package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/examples/internal/account"
)

func output(t *testing.T, csv string) string {
	t.Helper()
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "")
	var out bytes.Buffer
	if err := run(t.Context(), &out, csv, account.Flags{}); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return out.String()
}

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "claims.csv")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestSampleTellsEachStepAndItsRequests(t *testing.T) {
	got := output(t, "")
	for _, want := range []string{
		"account: in this process",
		"created two tables                                                 2 requests\n",
		"appended 48 expense claims                                         1 request\n",
		"stored 6 employees, a transaction a department                     3 requests\n",
		"raised the age of Don to 35, safe against other writers            2 requests\n",
		"listed the 2 employees of Marketing                                1 request\n",
		"  2026-01-30 08:02  00002    409.24  Parking\n",
		"  2026-01-26 10:22  00002    267.72  Conference fee\nread the last 10 claims",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("output lacks %q:\n%s", want, got)
		}
	}
}

func TestBadLinesAreNamedAndTheRestGoesOn(t *testing.T) {
	const good = "Sales,00010,Ken,Kwok,kenk@contoso.com,23,2026-01-05T08:00:00Z,1.50,Taxi"
	bad := []string{
		"Sales,00010,Ken,Kwok,kenk@contoso.com,old,2026-01-05T08:00:00Z,1.50,Taxi",
		"Sales,00010,Ken,Kwok,kenk@contoso.com,23,yesterday,1.50,Taxi",
		"Sales,00010,Ken,Kwok,kenk@contoso.com,23,0000-01-05T08:00:00Z,1.50,Taxi",
		"Sales,00010,Ken,Kwok,kenk@contoso.com,23,2026-01-05T08:00:00Z,much,Taxi",
		"Sales,00010,Ken,Kwok,kenk@contoso.com,23,2026-01-05T08:00:00Z,1.50",
		`Sales,00010,Ken,"Kwok,kenk@contoso.com,23,2026-01-05T08:00:00Z,1.50,Taxi`,
		"Sales/East,00010,Ken,Kwok,kenk@contoso.com,23,2026-01-05T08:00:00Z,1.50,Taxi",
		"Sales,00010,Ken,Kwok,kenk@contoso.com,23,2026-01-05T08:00:00Z,1.50,\xff",
		"Sales,00010,Ken,Kwok,kenk@contoso.com,23,2026-01-05T08:00:00Z,1.50," + strings.Repeat("x", maxLine),
	}
	got := output(t, file(t, "\ufeff"+columns+"\r\n"+good+"\r\n"+strings.Join(bad, "\n")+"\n\n"+good))
	for i := range bad {
		if want := fmt.Sprintf("left out: line %d: ", i+3); !strings.Contains(got, want) {
			t.Errorf("output lacks %q:\n%s", want, got)
		}
	}
	if want := "appended 2 expense claims, left out 9 lines"; !strings.Contains(got, want) {
		t.Errorf("output lacks %q:\n%s", want, got)
	}
}

func TestAFileThatCannotBeUsedIsAnError(t *testing.T) {
	for name, csv := range map[string]string{
		"missing":       filepath.Join(t.TempDir(), "none.csv"),
		"empty":         file(t, ""),
		"other columns": file(t, "a,b,c\n1,2,3\n"),
		"only a header": file(t, columns+"\n"),
	} {
		if err := run(t.Context(), &bytes.Buffer{}, csv, account.Flags{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := run(t.Context(), &bytes.Buffer{}, "", account.Flags{URL: "https://x.table.core.windows.net", Azurite: true}); err == nil {
		t.Error("-account with -azurite: no error")
	}
}
