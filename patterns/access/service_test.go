package access_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/access"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// account is one account to test against.
type account struct {
	url       string
	cred      *aztables.SharedKeyCredential
	transport policy.Transporter
	strict    bool // behaves as documented; the tests name the differences of Azurite
}

// onServices runs body on the in-process account and on Azurite.
func onServices(t *testing.T, body func(t *testing.T, a account)) {
	t.Run("storagetest", func(t *testing.T) {
		body(t, account{storagetest.TablesURL, sharedKey(t, storagetest.AccountName, storagetest.AccountKey), storagetest.New(t).Transport(), true})
	})
	t.Run("azurite", func(t *testing.T) {
		a := azurite.Shared(t)
		body(t, account{a.TableURL(), sharedKey(t, azurite.AccountName, azurite.AccountKey), nil, false})
	})
}

func sharedKey(t *testing.T, name, key string) *aztables.SharedKeyCredential {
	t.Helper()
	cred := assert.Must(aztables.NewSharedKeyCredential(name, key))(t)
	return cred
}

// table creates a new table with rows. It returns a client with the account key, and the
// name of the table.
func (a account) table(t *testing.T, rows ...keys.Key) (*aztables.Client, string) {
	t.Helper()
	name := "t" + strings.ReplaceAll(uuid.NewString(), "-", "")
	service := assert.Must(aztables.NewServiceClientWithSharedKey(a.url, a.cred, &aztables.ClientOptions{ClientOptions: options(a.transport)}))(t)
	assert.NoError(t, assert.ErrorOf(service.CreateTable(t.Context(), name, nil)))
	t.Cleanup(func() { _, _ = service.DeleteTable(context.Background(), name, nil) })
	client := service.NewClient(name)
	for _, k := range rows {
		assert.NoError(t, assert.ErrorOf(client.AddEntity(t.Context(), entity(k), nil)))
	}
	return client, name
}

// open signs the scope and returns a client that has only the token.
func (a account) open(t *testing.T, s access.Scope) *aztables.Client {
	t.Helper()
	s.AllowHTTP = strings.HasPrefix(a.url, "http:")
	token := assert.Must(access.Sign(a.cred, a.url, s))(t)
	client := assert.Must(token.Client(&aztables.ClientOptions{ClientOptions: options(a.transport)}))(t)
	return client
}

func entity(k keys.Key) []byte {
	b, err := json.Marshal(map[string]any{"PartitionKey": k.Partition, "RowKey": k.Row, "N": 1})
	if err != nil {
		panic(err)
	}
	return b
}

func list(t *testing.T, c *aztables.Client, filter string) []string {
	t.Helper()
	var got []string
	for pager := c.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr(filter)}); pager.More(); {
		page := assert.Must(pager.NextPage(t.Context()))(t)
		for _, row := range page.Entities {
			var e aztables.Entity
			assert.NoError(t, json.Unmarshal(row, &e))
			got = append(got, e.PartitionKey+"/"+e.RowKey)
		}
	}
	return got
}

func wantRefused(t *testing.T, err error, code string) {
	t.Helper()
	var e *azcore.ResponseError
	if !errors.As(err, &e) || e.StatusCode != http.StatusForbidden || code != "" && e.ErrorCode != code {
		t.Errorf("got %v, want 403 %s", err, code)
	}
}

func key(pk, rk string) keys.Key { return keys.Key{Partition: pk, Row: rk} }

func TestAClientWithATokenAccessesOnlyItsRange(t *testing.T) {
	onServices(t, func(t *testing.T, a account) {
		rows := []keys.Key{key("alice", "email_a"), key("alice", "email_b"), key("alice", "empid_1"), key("alicf", "email_a"), key("bob", "email_a")}
		owner, name := a.table(t, rows...)
		expiry := time.Now().Add(time.Hour)
		c := a.open(t, access.Scope{Table: name, Range: access.Rows("alice", keys.Prefix("email_")), Allow: access.Read | access.Upsert, Expiry: expiry})

		assert.Equal(t, assert.ErrorOf(c.GetEntity(t.Context(), "alice", "email_a", nil)), nil)
		assert.Equal(t, assert.ErrorOf(c.AddEntity(t.Context(), entity(key("alice", "email_c+d e")), nil)), nil)
		if _, err := c.UpsertEntity(t.Context(), entity(key("alice", "email_z")), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}); err != nil {
			t.Error(err)
		}
		_, err := c.DeleteEntity(t.Context(), "alice", "email_a", nil)
		wantRefused(t, err, "AuthorizationPermissionMismatch")

		if !a.strict {
			return // Azurite ignores ranges
		}
		want := []string{"alice/email_a", "alice/email_b", "alice/email_c+d e", "alice/email_z"}
		assert.EqualSlices(t, list(t, c, ""), want, "the table is")
		if got := list(t, c, "PartitionKey eq 'bob'"); got != nil {
			t.Errorf("bob is %q", got)
		}
		for _, k := range []keys.Key{key("alice", "empid_1"), key("alice", "email"), key("alicf", "email_a"), key("bob", "email_a")} {
			_, err := c.GetEntity(t.Context(), k.Partition, k.Row, nil)
			wantRefused(t, err, "AuthorizationFailure")
			_, err = c.UpsertEntity(t.Context(), entity(k), nil)
			wantRefused(t, err, "AuthorizationFailure")
			k.Row += "0" // a row that does not exist
			_, err = c.AddEntity(t.Context(), entity(k), nil)
			wantRefused(t, err, "AuthorizationFailure")
		}
		if got := list(t, owner, ""); len(got) != len(rows)+2 {
			t.Errorf("a row outside the range was written: %q", got)
		}
	})
}

func TestABatchWithOneRowOutsideTheRangeIsRefused(t *testing.T) {
	onServices(t, func(t *testing.T, a account) {
		if !a.strict {
			return // Azurite refuses every batch with a signature
		}
		owner, name := a.table(t)
		c := a.open(t, access.Scope{Table: name, Range: access.Rows("p", keys.Range{From: "b", To: "c"}), Allow: access.Upsert, Expiry: time.Now().Add(time.Hour)})
		batch := func(rows ...string) error {
			var actions []aztables.TransactionAction
			for _, row := range rows {
				actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: entity(key("p", row))})
			}
			_, err := c.SubmitTransaction(t.Context(), actions, nil)
			return err
		}
		assert.Equal(t, batch("b1", "b2"), nil)
		assert.Failed(t, batch("b3", "c1"), "a batch with a row outside the range was applied")
		assert.EqualSlices(t, list(t, owner, ""), []string{"p/b1", "p/b2"}, "the table is")
	})
}

func TestAnUpsertNeedsBothPermissions(t *testing.T) {
	onServices(t, func(t *testing.T, a account) {
		_, name := a.table(t)
		for allow, ok := range map[access.Permission]bool{access.Add: false, access.Update: false, access.Upsert: true} {
			if !a.strict && allow == access.Update {
				continue // Azurite accepts Update alone
			}
			c := a.open(t, access.Scope{Table: name, Range: access.Partition("p"), Allow: allow, Expiry: time.Now().Add(time.Hour)})
			_, err := c.UpsertEntity(t.Context(), entity(key("p", "r")), nil)
			if ok && err != nil {
				t.Error(err)
			}
			if !ok {
				wantRefused(t, err, "AuthorizationPermissionMismatch")
			}
		}
	})
}

func TestDeletingTheAccessPolicyRevokesTheToken(t *testing.T) {
	onServices(t, func(t *testing.T, a account) {
		if a.strict {
			synctest.Test(t, func(t *testing.T) { revoke(t, a) })
			return
		}
		revoke(t, a)
	})
}

// revoke deletes the policy of a token. In virtual time it waits until a change of the policy has taken effect.
func revoke(t *testing.T, a account) {
	owner, name := a.table(t, key("p", "r"))
	set := func(policies ...*aztables.SignedIdentifier) {
		t.Helper()
		assert.NoError(t, assert.ErrorOf(owner.SetAccessPolicy(t.Context(), &aztables.SetAccessPolicyOptions{TableACL: policies})))
		if a.strict {
			time.Sleep(30 * time.Second)
		}
	}
	set(&aztables.SignedIdentifier{ID: to.Ptr("mobile"), AccessPolicy: &aztables.AccessPolicy{
		Start: to.Ptr(time.Now().Add(-time.Hour).UTC()), Expiry: to.Ptr(time.Now().Add(time.Hour).UTC()), Permission: to.Ptr("r")}})
	c := a.open(t, access.Scope{Table: name, Range: access.Partition("p"), Policy: "mobile"})
	assert.Equal(t, assert.ErrorOf(c.GetEntity(t.Context(), "p", "r", nil)), nil)
	_, err := c.AddEntity(t.Context(), entity(key("p", "s")), nil)
	wantRefused(t, err, "AuthorizationPermissionMismatch")
	set()
	_, err = c.GetEntity(t.Context(), "p", "r", nil)
	wantRefused(t, err, "")
}

func TestATokenIsRefusedBeforeItsStart(t *testing.T) {
	onServices(t, func(t *testing.T, a account) {
		_, name := a.table(t, key("p", "r"))
		c := a.open(t, access.Scope{Table: name, Allow: access.Read, Start: time.Now().Add(time.Hour), Expiry: time.Now().Add(2 * time.Hour)})
		_, err := c.GetEntity(t.Context(), "p", "r", nil)
		wantRefused(t, err, "")
	})
}

func TestATokenDoesNotPermitOperationsOnTheTable(t *testing.T) {
	onServices(t, func(t *testing.T, a account) {
		_, name := a.table(t)
		c := a.open(t, access.Scope{Table: name, Allow: access.All, Expiry: time.Now().Add(time.Hour)})
		_, err := c.GetAccessPolicy(t.Context(), nil)
		wantRefused(t, err, "")
		if !a.strict {
			return // Azurite accepts the permission to delete entities for deleting the table
		}
		_, err = c.Delete(t.Context(), nil)
		wantRefused(t, err, "AuthorizationFailure")
	})
}
