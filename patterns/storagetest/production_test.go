package storagetest_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// In production a page ends after some rows and at the end of a partition, a new access policy permits nothing at first, and the
// name of a table is blocked for longer.
func ExampleOptions_production() {
	acct := storagetest.Start(&storagetest.Options{Production: true})
	fmt.Println(pagesOf(acct, 600), "pages")
	// Output: 4 pages
}

// pagesOf returns the number of pages in which a query returns n rows in each of two partitions, of which the second has one.
func pagesOf(acct *storagetest.Account, n int) int {
	people := acct.Tables().NewClient("people")
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	_, err := people.CreateTable(context.Background(), nil)
	must(err)
	var batch []aztables.TransactionAction
	for i := range n {
		row := fmt.Appendf(nil, `{"PartitionKey":"a","RowKey":"%04d"}`, i)
		batch = append(batch, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: row})
		if len(batch) == 100 {
			_, err = people.SubmitTransaction(context.Background(), batch, nil)
			must(err)
			batch = nil
		}
	}
	_, err = people.AddEntity(context.Background(), []byte(`{"PartitionKey":"b","RowKey":"0"}`), nil)
	must(err)
	pages := 0
	for pager := people.NewListEntitiesPager(nil); pager.More(); pages++ {
		_, err = pager.NextPage(context.Background())
		must(err)
	}
	return pages
}

func TestOptionsReplaceTheFiguresOfProduction(t *testing.T) {
	acct := storagetest.Start(&storagetest.Options{Production: true, PageScan: 100})
	assert.Equal(t, pagesOf(acct, 600), 7)
}

func TestTheVariableMakesEveryAccountOneOfProduction(t *testing.T) {
	t.Setenv(storagetest.ProductionVariable, "1")
	assert.Equal(t, pagesOf(storagetest.New(t), 600), 4)
	t.Setenv(storagetest.ProductionVariable, "")
	assert.Equal(t, pagesOf(storagetest.New(t), 600), 1)
}

func TestInProductionTheNameOfADeletedTableIsBlockedForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.Start(&storagetest.Options{Production: true})
		assert.NoError(t, create(t.Context(), acct, "people"))
		people := acct.Tables().NewClient("people")
		assert.NoError(t, assert.ErrorOf(people.Delete(t.Context(), nil)))
		time.Sleep(time.Minute - time.Nanosecond)
		var once aztables.ClientOptions
		once.Retry.MaxRetries = -1
		again := acct.TablesWith(&once).NewClient("people")
		_, err := again.CreateTable(t.Context(), nil)
		wantCode(t, err, http.StatusConflict, "TableBeingDeleted")
		time.Sleep(time.Nanosecond)
		assert.NoError(t, assert.ErrorOf(again.CreateTable(t.Context(), nil)))
	})
}

func TestInProductionAChangeOfAPolicyTakes30Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.Start(&storagetest.Options{Production: true})
		assert.NoError(t, create(t.Context(), acct, "people"))
		people := acct.Tables().NewClient("people")
		set := func(permission string) {
			t.Helper()
			policy := &aztables.SignedIdentifier{ID: to.Ptr("reader"), AccessPolicy: &aztables.AccessPolicy{Permission: to.Ptr(permission), Expiry: to.Ptr(time.Now().Add(time.Hour))}}
			var all []*aztables.SignedIdentifier
			if permission != "" {
				all = append(all, policy)
			}
			assert.NoError(t, assert.ErrorOf(people.SetAccessPolicy(t.Context(), &aztables.SetAccessPolicyOptions{TableACL: all})))
		}
		reader := signedByPolicy(t, acct, "people", "reader")
		read := func(status int) {
			t.Helper()
			_, err := reader.NewListEntitiesPager(nil).NextPage(t.Context())
			if status == http.StatusOK {
				assert.NoError(t, err)
			} else {
				wantCode(t, err, status, "AuthenticationFailed")
			}
		}
		const delay = 30 * time.Second
		set("r")
		read(http.StatusForbidden)
		time.Sleep(delay - time.Nanosecond)
		read(http.StatusForbidden)
		time.Sleep(time.Nanosecond)
		read(http.StatusOK)

		set("ra") // a policy that was changed permits nothing at first
		read(http.StatusForbidden)
		time.Sleep(delay)
		read(http.StatusOK)

		set("") // one that was removed is still valid
		read(http.StatusOK)
		time.Sleep(delay)
		read(http.StatusForbidden)
	})
}

func TestInProductionTheSecondaryIsBehindAndTheClocksDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		skews := map[time.Duration]bool{}
		for seed := range uint64(2) {
			acct := storagetest.Start(&storagetest.Options{Production: true, Seed: 2 + seed})
			d := &dates{inner: acct.Transport()}
			var opts aztables.ClientOptions
			opts.Transport = d
			cred := assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)
			assert.NoError(t, create(t.Context(), acct, "people"))
			secondary := assert.Must(aztables.NewServiceClientWithSharedKey(storagetest.SecondaryTablesURL, cred, &opts))(t)
			_, err := secondary.NewClient("people").GetEntity(t.Context(), "p", "r", nil)
			wantCode(t, err, http.StatusNotFound, "TableNotFound")
			time.Sleep(15 * time.Second)
			_, err = secondary.NewClient("people").GetEntity(t.Context(), "p", "r", nil)
			wantCode(t, err, http.StatusNotFound, "ResourceNotFound")
			at := assert.Must(http.ParseTime(d.seen[len(d.seen)-1]))(t)
			skews[time.Until(at).Round(time.Minute)] = true
		}
		if len(skews) != 2 || !skews[2*time.Minute] || !skews[-2*time.Minute] {
			t.Errorf("the clock of the account is ahead by %v", skews)
		}
	})
}

func TestInProductionTheFirstCallOfReplicateCopiesTheAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.Start(&storagetest.Options{Production: true})
		people := table(t, acct, "people")
		put(t, people, "p", "deleted")
		time.Sleep(15 * time.Second) // it is on the secondary
		assert.NoError(t, assert.ErrorOf(people.DeleteEntity(t.Context(), "p", "deleted", nil)))
		put(t, people, "p", "stored")
		acct.Replicate(time.Hour)
		put(t, people, "p", "later")
		rows, _ := rowKeys(t, secondTables(t, acct).NewClient("people"), nil)
		assert.EqualSlices(t, rows, []string{"stored"})
		acct.Replicate(0)
		rows, _ = rowKeys(t, secondTables(t, acct).NewClient("people"), nil)
		assert.EqualSlices(t, rows, []string{"later", "stored"})
	})
}

func TestInProductionTheTargetsAreThoseOfTheDocumentation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.Start(&storagetest.Options{Production: true})
		pagesOf(acct, 2500)
		refused := 0
		for _, q := range acct.Log() {
			if q.Code == "ServerBusy" {
				refused++
			}
		}
		if refused == 0 {
			t.Error("no request was refused")
		}
	})
}

// signedByPolicy returns a client whose SAS has the permissions of a stored access policy.
func signedByPolicy(t *testing.T, acct *storagetest.Account, table, policy string) *aztables.Client {
	t.Helper()
	const version = "2019-02-02"
	text := strings.Join([]string{"", "", "", "/table/" + storagetest.AccountName + "/" + table, policy, "", "", version, "", "", "", ""}, "\n")
	mac := hmac.New(sha256.New, assert.Must(base64.StdEncoding.DecodeString(storagetest.AccountKey))(t))
	mac.Write([]byte(text))
	query := url.Values{"sv": {version}, "si": {policy}, "tn": {table}, "sig": {base64.StdEncoding.EncodeToString(mac.Sum(nil))}}
	opts := &aztables.ClientOptions{}
	opts.Transport = acct.Transport()
	return assert.Must(aztables.NewClientWithNoCredential(storagetest.TablesURL+"/"+table+"?"+query.Encode(), opts))(t)
}
