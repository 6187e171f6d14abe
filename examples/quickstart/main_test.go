package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/internal/assert"
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
	assert.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestTheSamplePrintsEachStepAndItsRequests(t *testing.T) {
	got := output(t, "")
	for _, want := range []string{
		"account: in this process",
		"created two tables                                                 2 requests\n",
		"appended 48 expense claims                                         1 request\n",
		"stored 6 employees, one transaction per department                 3 requests\n",
		"raised the age of Don to 35, with optimistic concurrency           2 requests\n",
		"listed the 2 employees of Marketing                                1 request\n",
		"  2026-01-30 08:02  00002    409.24  Parking\n",
		"  2026-01-26 10:22  00002    267.72  Conference fee\nread the last 10 claims",
	} {
		assert.Contains(t, got, want)
	}
}

func TestInvalidLinesAreReportedAndSkipped(t *testing.T) {
	const good = "Sales,00010,Ken,Kwok,kenk@contoso.com,23,2026-01-05T08:00:00Z,1.50,Taxi"
	bad := []string{
		"Sales,00010,Ken,Kwok,kenk@contoso.com,old,2026-01-05T08:00:00Z,1.50,Taxi",
		"Sales,00010,Ken,Kwok,kenk@contoso.com,23,yesterday,1.50,Taxi",
		"Sales,00010,Ken,Kwok,kenk@contoso.com,23,0000-01-05T08:00:00Z,1.50,Taxi",
		"Sales,00010,Ken,Kwok,kenk@contoso.com,23,1601-01-01T00:30:00+01:00,1.50,Taxi",
		"Sales,00010,Ken,Kwok,kenk@contoso.com,23,9999-12-31T23:30:00-01:00,1.50,Taxi",
		"Sales,00010,Ken,Kwok,kenk@contoso.com,23,2026-01-05T08:00:00Z,much,Taxi",
		"Sales,00010,Ken,Kwok,kenk@contoso.com,23,2026-01-05T08:00:00Z,1.50",
		`Sales,00010,Ken,"Kwok,kenk@contoso.com,23,2026-01-05T08:00:00Z,1.50,Taxi`,
		"Sales/East,00010,Ken,Kwok,kenk@contoso.com,23,2026-01-05T08:00:00Z,1.50,Taxi",
		"Sales,00010,Ken,Kwok,kenk@contoso.com,23,2026-01-05T08:00:00Z,1.50,\xff",
		"Sales,00010,Ken,Kwok,kenk@contoso.com,23,2026-01-05T08:00:00Z,1.50," + strings.Repeat("x", maxLine),
	}
	got := output(t, file(t, "\ufeff"+columns+"\r\n"+good+"\r\n"+strings.Join(bad, "\n")+"\n\n"+good))
	for i := range bad {
		if want := fmt.Sprintf("skipped line %d: ", i+3); !strings.Contains(got, want) {
			t.Errorf("the output does not contain %q:\n%s", want, got)
		}
	}
	if want := "appended 2 expense claims, skipped 11 lines"; !strings.Contains(got, want) {
		t.Errorf("the output does not contain %q:\n%s", want, got)
	}
}

// endless is a reader of this many bytes without a line break.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.left -= n
	return n, nil
}

func TestALongLineDoesNotFillTheMemory(t *testing.T) {
	const size = 64 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for _, err := range records(io.MultiReader(strings.NewReader(columns+"\n"), &endless{size})) {
		var bad *badLine
		if n++; !errors.As(err, &bad) || bad.number != 2 || !strings.Contains(err.Error(), "longer than") {
			t.Errorf("got %v", err)
		}
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; n != 1 || taken > size/8 {
		t.Errorf("%d lines, %d bytes of memory", n, taken)
	}
}

// If the tables cannot be created, the program reports that once and does not try to delete
// them.
func TestAnUnusableAccountIsReportedOnce(t *testing.T) {
	for url, want := range map[string]string{
		"acct":                               "https",
		"://":                                "https",
		"https://":                           "https",
		"http://acct.table.core.windows.net": "https",
		"https://acct.table.core.windows.net/?sig=SECRET": "signature",
		"https://me:SECRET@acct.table.core.windows.net":   "signature",
	} {
		var out bytes.Buffer
		err := run(t.Context(), &out, "", account.Flags{URL: url})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error()+out.String(), "SECRET") {
			t.Errorf("%s: %v\n%s", url, err, &out)
		}
	}
	refusals := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refusals++
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	t.Setenv(account.Connection, "AccountName=a;AccountKey=YQ==;TableEndpoint="+server.URL+";QueueEndpoint="+server.URL)
	err := run(t.Context(), &bytes.Buffer{}, "", account.Flags{})
	if err == nil || strings.Count(err.Error(), "403") != 1 || refusals != 1 {
		t.Errorf("%d refusals: %v", refusals, err)
	}
}

func TestAnInvalidFileIsAnError(t *testing.T) {
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
