package tablectl

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// onBoth runs a test with the connection string of an account on loopback, and of Azurite, in the environment variable
// that it receives.
func onBoth(t *testing.T, body func(t *testing.T, variable string)) {
	const variable = "TABLECTL_TEST"
	t.Run("storagetest", func(t *testing.T) {
		server := assert.Must(storagetest.New(t).Serve())(t)
		t.Setenv(variable, server.ConnectionString())
		body(t, variable)
	})
	t.Run("azurite", func(t *testing.T) {
		t.Setenv(variable, azurite.Shared(t).ConnectionString())
		body(t, variable)
	})
}

func TestRowsAreExportedImportedCopiedAndComparedOnAService(t *testing.T) {
	onBoth(t, func(t *testing.T, variable string) {
		var text strings.Builder
		text.WriteString(textOf(sampleRows(300)))
		text.WriteString(must(t, exitDone, nil, "export", "-demo", "Types", "-").out)
		first, second := harness.UniqueName(), harness.UniqueName()
		path := writeFile(t, "rows.jsonl", text.String())
		must(t, exitDone, nil, "import", "-env", variable, "-create", "-chunk", "70", path, first)
		must(t, exitDone, nil, "copy", "-env", variable, "-create", "-chunk", "70", first, second)
		must(t, exitDone, nil, "diff", "-env", variable, second, path)
		if o := must(t, exitDone, nil, "count", "-env", variable, second); !strings.HasPrefix(o.out, "303 rows") {
			t.Error(o.out)
		}
		again := filepath.Join(t.TempDir(), "again.jsonl")
		must(t, exitDone, nil, "export", "-env", variable, "-chunk", "70", second, again)
		must(t, exitDone, nil, "diff", path, again)
		must(t, exitDone, nil, "diff", "-demo", "-to-env", variable, "-where", "PartitionKey eq 'it''s' and RowKey lt '00000'", "Types", first)
	})
}

// TestRowsOfTheJavaScriptPackageKeepTheirTypes is skipped if npm is missing; see azurite.Variable.
func TestRowsOfTheJavaScriptPackageKeepTheirTypes(t *testing.T) {
	js := filepath.Join("..", "..", "internal", "conformance", "js")
	packages, err1 := os.ReadFile(filepath.Join(js, "package.json"))
	lock, err2 := os.ReadFile(filepath.Join(js, "package-lock.json"))
	assert.Equal(assert.Now(t), err1, nil)
	assert.Equal(assert.Now(t), err2, nil)
	modules := filepath.Join(azurite.Packages(t, "js", packages, lock), "node_modules")
	onBoth(t, func(t *testing.T, variable string) {
		table, other := harness.UniqueName(), harness.UniqueName()
		cmd := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "rows.cjs"))
		// Both accounts are on this machine, so the package must not use the proxy that a live account can need.
		cmd.Env = append(os.Environ(), "NODE_PATH="+modules, "NODE_OPTIONS=", "HTTPS_PROXY=", "ACCOUNT="+os.Getenv(variable), "TABLE="+table)
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		path := filepath.Join(t.TempDir(), "rows.jsonl")
		must(t, exitDone, nil, "export", "-env", variable, table, path)
		text, err := os.ReadFile(path)
		text = bytes.Replace(text, []byte(`00:00.0000000Z`), []byte(`00:00Z`), 1) // Azurite returns a time as it was sent
		if want := `{"PartitionKey":"it's","RowKey":"Grüße 😀","big@odata.type":"Edm.Int64","big":"9223372036854775807",` +
			`"bytes@odata.type":"Edm.Binary","bytes":"AAH/","first@odata.type":"Edm.DateTime","first":"1601-01-01T00:00:00Z","flag":true,"fraction@odata.type":"Edm.Double","fraction":1.5,` +
			`"id@odata.type":"Edm.Guid","id":"c9da6455-213d-42c9-9a79-3e9149a57833","infinite@odata.type":"Edm.Double","infinite":"Infinity",` +
			`"last@odata.type":"Edm.DateTime","last":"9999-12-31T23:59:59.9999999Z","nan@odata.type":"Edm.Double","nan":"NaN","small":-7,` +
			`"text":"a\u0000b\u000a\"<&>","when@odata.type":"Edm.DateTime","when":"2020-01-02T03:04:05.678Z","whole@odata.type":"Edm.Double","whole":3.0}` + "\n"; err != nil || string(text) != want {
			t.Errorf("exported %v\n%s\nwant\n%s", err, text, want)
		}
		must(t, exitDone, nil, "import", "-env", variable, "-create", path, other)
		must(t, exitDone, nil, "diff", "-env", variable, table, other)
		must(t, exitDone, nil, "diff", "-env", variable, other, path)
	})
}

func TestASASOpensTablesAndQueues(t *testing.T) {
	acct := demoAccount(t)
	address, err := acct.Tables().GetAccountSASURL(aztables.AccountSASResourceTypes{Object: true}, aztables.AccountSASPermissions{Read: true, List: true},
		time.Time{}, time.Now().Add(time.Hour))
	assert.NoError(t, err)
	base, signature, _ := strings.Cut(address, "?")
	a, err := (&cli{}).connect(address, acct.Transport(), "")
	assert.NoError(t, err)
	assert.Equal(assert.Now(t), a.account.Name, base)
	checkRows(t, a)
	queue, err := a.Queue("jobs")
	if err != nil || !strings.HasPrefix(queue.URL(), storagetest.QueuesURL+"/jobs?") || !strings.HasSuffix(queue.URL(), signature) {
		t.Errorf("the queue has another address: %v", err)
	}
}

// checkRows reads rows of the demo through the account.
func checkRows(t *testing.T, a *Account) {
	t.Helper()
	table := openTable(a.Table("Types"))
	assert.Equal(t, len(assert.All(t, table.Query(t.Context(), query.PartitionKey.Eq("it's"), nil))), 3, "rows")
}

// user is the identity of a user, without a directory service.
type user struct{ asked atomic.Int64 }

func (u *user) GetToken(_ context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	u.asked.Add(1)
	if len(o.Scopes) != 1 || o.Scopes[0] != "https://storage.azure.com/.default" {
		return azcore.AccessToken{}, fmt.Errorf("scopes %v", o.Scopes)
	}
	return azcore.AccessToken{Token: "a.b.c", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func TestTheIdentityOfTheUserOpensTablesAndQueues(t *testing.T) {
	acct := demoAccount(t)
	u := &user{}
	c := &cli{identity: func() (azcore.TokenCredential, error) { return u, nil }}
	a, err := c.connect(storagetest.TablesURL, acct.Transport(), "") // over https, which tokens require
	assert.NoError(t, err)
	assert.Equal(assert.Now(t), a.account.Name, storagetest.TablesURL)
	checkRows(t, a)
	queue := assert.Must(a.Queue("jobs-poison"))(t)
	if got, err := queue.GetProperties(t.Context(), nil); err != nil || *got.ApproximateMessagesCount != 2 {
		t.Errorf("the messages of the queue: %v", err)
	}
	assert.Equal(t, u.asked.Load(), 2, "tokens for two clients")
}

func TestFlagsAndTheEnvironmentSelectTheAccount(t *testing.T) {
	const sas, connection = "https://sas.table.core.windows.net/?sig=SECRET", "AccountName=env;AccountKey=" + storagetest.AccountKey
	t.Setenv("TABLECTL_SAS", sas)
	for args, want := range map[string]string{
		"-account https://user.table.core.windows.net/": "https://user.table.core.windows.net/ identity",
		"-env TABLECTL_SAS":                             "https://sas.table.core.windows.net/",
		"":                                              "AccountName=env",
		"-azurite":                                      "AccountName=devstoreaccount1;TableEndpoint=http://127.0.0.1:10002/devstoreaccount1",
	} {
		t.Setenv(connectionVariable, connection)
		got := ""
		c := &cli{flags: flag.NewFlagSet("", flag.ContinueOnError), identity: func() (azcore.TokenCredential, error) {
			got = " identity"
			return defaultIdentity()
		}}
		c.accountFlags("", "the account")
		c.accountFlags("to-", "the account of the second argument, if it is another one")
		assert.NoError(t, errors.Join(c.flags.Parse(strings.Fields(args)), c.openAll(t.Context())))
		assert.Equal(assert.Now(t), c.from, c.to)
		if got = c.from.account.Name + got; got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	c := &cli{flags: flag.NewFlagSet("", flag.ContinueOnError)}
	c.accountFlags("", "the account")
	c.accountFlags("to-", "the account of the second argument, if it is another one")
	if err := errors.Join(c.flags.Parse([]string{"-azurite", "-to-env", "TABLECTL_SAS"}), c.openAll(t.Context())); err != nil || !strings.HasPrefix(c.to.account.Name, "https://sas") || strings.HasPrefix(c.from.account.Name, "https://sas") {
		t.Errorf("%+v %+v %v", c.from, c.to, err)
	}
}
