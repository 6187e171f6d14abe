package storagetest_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// sas contains the parameters of a table SAS, which are described in
// https://learn.microsoft.com/rest/api/storageservices/create-service-sas
type sas struct{ sp, spk, srk, epk, erk, si string }

// client signs s without the SDK, which omits the key range, and returns a client that has
// no other credential.
func (s sas) client(t *testing.T, acct *storagetest.Account, name string) *aztables.Client {
	t.Helper()
	se := ""
	if s.si == "" {
		se = time.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04:05Z")
	}
	const sv = "2019-02-02"
	text := strings.Join([]string{s.sp, "", se, "/table/" + storagetest.AccountName + "/" + strings.ToLower(name),
		s.si, "", "", sv, s.spk, s.srk, s.epk, s.erk}, "\n")
	key := assert.Must(base64.StdEncoding.DecodeString(storagetest.AccountKey))(t)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	q := url.Values{"sv": {sv}, "tn": {name}, "sig": {base64.StdEncoding.EncodeToString(mac.Sum(nil))}}
	for k, v := range map[string]string{"sp": s.sp, "se": se, "spk": s.spk, "srk": s.srk, "epk": s.epk, "erk": s.erk, "si": s.si} {
		if v != "" {
			q.Set(k, v)
		}
	}
	var opts aztables.ClientOptions
	opts.Transport = acct.Transport()
	client := assert.Must(aztables.NewClientWithNoCredential(storagetest.TablesURL+"/"+name+"?"+q.Encode(), &opts))(t)
	return client
}

func TestASignatureIsLimitedToItsKeyRange(t *testing.T) {
	ctx := t.Context()
	acct := storagetest.New(t)
	owner := table(t, acct, "People")
	for _, pk := range []string{"a", "b", "c", "d"} {
		put(t, owner, pk, "1", "2", "3")
	}
	c := sas{sp: "raud", spk: "b", srk: "2", epk: "c", erk: "2"}.client(t, acct, "People")
	if keys, _ := rowKeys(t, c, nil); !slices.Equal(keys, []string{"2", "3", "1", "2"}) {
		t.Errorf("a query returns %v", keys)
	}
	for _, at := range [][2]string{{"b", "1"}, {"c", "3"}, {"a", "2"}} {
		_, err := c.GetEntity(ctx, at[0], at[1], nil)
		wantCode(t, err, 403, "AuthorizationFailure")
		_, err = c.UpsertEntity(ctx, entity(t, at[0], at[1]), nil)
		wantCode(t, err, 403, "AuthorizationFailure")
	}
	put(t, c, "b", "2", "9")
	inside := []aztables.TransactionAction{{ActionType: aztables.TransactionTypeInsertReplace, Entity: entity(t, "b", "7")}}
	assert.Equal(t, assert.ErrorOf(c.SubmitTransaction(ctx, inside, nil)), nil, "a batch within the range")
	outside := append(inside, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: entity(t, "b", "0")})
	assert.Failed(t, assert.ErrorOf(c.SubmitTransaction(ctx, outside, nil)), "a batch that leaves the range was accepted")
	if q := acct.Log().Only("Table.Batch")[1]; q.Inner != 403 || q.Code != "AuthorizationFailure" {
		t.Errorf("%v", q)
	}
}

func TestASignatureIsLimitedToItsPermissions(t *testing.T) {
	ctx := t.Context()
	acct := storagetest.New(t)
	put(t, table(t, acct, "People"), "p", "r")
	const denied = "AuthorizationPermissionMismatch"
	any := azcore.ETagAny
	for letters, allowed := range map[string][5]bool{ // get, insert, update, upsert, delete
		"r":  {true, false, false, false, false},
		"a":  {false, true, false, false, false},
		"u":  {false, false, true, false, false},
		"au": {false, true, true, true, false},
		"d":  {false, false, false, false, true},
	} {
		c := sas{sp: letters}.client(t, acct, "People")
		var errs [5]error
		_, errs[0] = c.GetEntity(ctx, "p", "r", nil)
		_, errs[1] = c.AddEntity(ctx, entity(t, "p", "new"+letters), nil)
		_, errs[2] = c.UpdateEntity(ctx, entity(t, "p", "r"), &aztables.UpdateEntityOptions{IfMatch: &any, UpdateMode: aztables.UpdateModeMerge})
		_, errs[3] = c.UpsertEntity(ctx, entity(t, "p", "r"), nil)
		_, errs[4] = c.DeleteEntity(ctx, "p", "r", nil)
		for i, err := range errs {
			if allowed[i] {
				assert.Equal(t, err, nil, letters, "operation", i)
				continue
			}
			wantCode(t, err, 403, denied)
		}
		put(t, acct.Tables().NewClient("People"), "p", "r")
	}
	_, err := sas{sp: "raud"}.client(t, acct, "People").Delete(ctx, nil)
	wantCode(t, err, 403, "AuthorizationFailure")
	other := sas{sp: "raud"}.client(t, acct, "Others")
	_, err = other.GetEntity(ctx, "p", "r", nil)
	wantCode(t, err, 404, "TableNotFound")
}

func TestAStoredPolicyGrantsUntilItIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		acct := storagetest.New(t)
		owner := table(t, acct, "People")
		put(t, owner, "p", "r")
		set := func(ids ...*aztables.SignedIdentifier) {
			t.Helper()
			assert.NoError(t, assert.ErrorOf(owner.SetAccessPolicy(ctx, &aztables.SetAccessPolicyOptions{TableACL: ids})))
			time.Sleep(30 * time.Second) // a change may take that long
		}
		set(&aztables.SignedIdentifier{ID: to.Ptr("readers"), AccessPolicy: &aztables.AccessPolicy{
			Start: to.Ptr(time.Now().Add(-time.Hour)), Expiry: to.Ptr(time.Now().Add(time.Hour)), Permission: to.Ptr("r"),
		}})
		c := sas{si: "readers"}.client(t, acct, "People")
		assert.Equal(t, assert.ErrorOf(c.GetEntity(ctx, "p", "r", nil)), nil)
		_, err := c.DeleteEntity(ctx, "p", "r", nil)
		wantCode(t, err, 403, "AuthorizationPermissionMismatch")
		set()
		_, err = c.GetEntity(ctx, "p", "r", nil)
		wantCode(t, err, 403, "AuthenticationFailed")
	})
}

func TestWrongCredentialsAreRefused(t *testing.T) {
	ctx := t.Context()
	acct := storagetest.New(t)
	var opts aztables.ClientOptions
	opts.Transport = acct.Transport()

	cred := assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, "AAAA"))(t)
	wrong, err := aztables.NewServiceClientWithSharedKey(storagetest.TablesURL, cred, &opts)
	assert.NoError(t, err)
	_, err = wrong.CreateTable(ctx, "people", nil)
	wantCode(t, err, 403, "AuthenticationFailed")

	none, err := aztables.NewServiceClientWithNoCredential(storagetest.TablesURL, &opts)
	assert.NoError(t, err)
	_, err = none.CreateTable(ctx, "people", nil)
	wantCode(t, err, 401, "NoAuthenticationInformation")

	bearer := assert.Must(aztables.NewServiceClient(storagetest.TablesURL, token{}, &opts))(t)
	assert.Equal(t, assert.ErrorOf(bearer.CreateTable(ctx, "people", nil)), nil, "a bearer token")
}

type token struct{}

func (token) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "abc.def", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func TestQueueAndBlobSignaturesAreLimitedToTheirPermissions(t *testing.T) {
	ctx := t.Context()
	acct := storagetest.New(t)
	queue := acct.Queue("jobs")
	assert.NoError(t, assert.ErrorOf(queue.Create(ctx, nil)))
	assert.NoError(t, assert.ErrorOf(queue.EnqueueMessage(ctx, "hello", nil)))
	checkQueueSAS(t, acct, queue)

	box := acct.Container("box")
	assert.NoError(t, assert.ErrorOf(box.Create(ctx, nil)))
	checkBlobSAS(t, acct, box)
}

func TestARefusedCredentialIsReportedWithTheReason(t *testing.T) {
	acct := storagetest.New(t)
	for _, tt := range []struct{ address, authorization, want string }{
		{storagetest.QueuesURL + "/?comp=list", "Bearer a b", "malformed"},
		{storagetest.BlobsURL + "/?comp=list", "SharedKey other:AAAA", "another account"},
		{storagetest.TablesURL + "/Tables", "SharedKey other:AAAA", "another account"},
		{storagetest.TablesURL + "/people?comp=acl", "Basic x", "not SharedKey"},
		{"http://127.0.0.1:10001/" + storagetest.AccountName + "?comp=list", "Bearer abc", "over https only"},
		{storagetest.BlobsURL + "/box?sv=2019-02-02&sr=x&sig=a", "", "sr is not c"},
	} {
		req := assert.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, tt.address, nil))(t)
		if tt.authorization != "" {
			req.Header.Set("Authorization", tt.authorization)
		}
		res := assert.Must(acct.Transport().Do(req))(t)
		body, err := io.ReadAll(res.Body)
		assert.NoError(t, err)
		assert.Contains(t, string(body), tt.want)
	}
}
