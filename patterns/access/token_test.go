package access_test

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/access"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func TestFormattingAndLoggingDoNotPrintTheSignature(t *testing.T) {
	token := assert.Must(access.Sign(credential(t), serviceURL, access.Scope{Table: "Claims", Allow: access.Read, Expiry: century}))(t)
	q, _ := url.ParseQuery(token.Query())
	secret := url.QueryEscape(q.Get("sig"))
	type session struct{ token access.Token }
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if got := fmt.Sprintf(verb, token); strings.Contains(got, secret) || !strings.Contains(got, "Claims") {
			t.Errorf("%s prints %s", verb, got)
		}
		// fmt does not call the methods of unexported fields.
		for _, holder := range []any{session{token}, &session{token}, []session{{token}}, map[string]any{"a": session{token}}} {
			if got := fmt.Sprintf(verb, holder); strings.Contains(got, secret) {
				t.Errorf("%s of a %T prints %s", verb, holder, got)
			}
		}
	}
	for _, verb := range []string{"%d", "%x"} {
		for _, v := range []any{token, session{token}} {
			if got := fmt.Sprintf(verb, v); strings.Contains(got, secret) || strings.Contains(got, fmt.Sprintf("%x", secret)) {
				t.Errorf("%s of a %T prints %s", verb, v, got)
			}
		}
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("issued", "token", token, "session", session{token})
	slog.New(slog.NewJSONHandler(&log, nil)).Info("issued", "token", token, "session", session{token})
	if strings.Contains(log.String(), secret) {
		t.Errorf("logged: %s", &log)
	}
	assert.Equal(t, (access.Token{}).Query(), "", "the zero Token has a signature")
}

func TestTheZeroTokenCannotBeUsed(t *testing.T) {
	client, err := access.Token{}.Client(nil)
	assert.Equal(t, client, nil, "the zero Token returned a client")
	wantField(t, err, "token")
}

func TestTheSDKClientSendsTheRange(t *testing.T) {
	account := storagetest.New(t)
	server := assert.Must(account.Serve())(t)
	assert.NoError(t, assert.ErrorOf(account.Tables().CreateTable(t.Context(), "Claims", nil)))
	for _, service := range []struct {
		url       string
		transport policy.Transporter
	}{
		{storagetest.TablesURL, account.Transport()}, {storagetest.TablesURL + "/", account.Transport()}, {server.TablesURL, nil},
	} {
		token, err := access.Sign(sharedKey(t, storagetest.AccountName, storagetest.AccountKey), service.url, access.Scope{Table: "Claims", AllowHTTP: true,
			Range: access.Rows("O'Brien & co+", keys.Prefix("email_")), Allow: access.Read | access.Upsert, Expiry: century})
		assert.NoError(t, err)
		client := assert.Must(token.Client(&aztables.ClientOptions{ClientOptions: options(service.transport)}))(t)
		try := func(op, pk, rk, want string) {
			t.Helper()
			account.ResetLog()
			entity := fmt.Appendf(nil, `{"PartitionKey":%q,"RowKey":%q}`, pk, rk)
			switch op {
			case "Table.UpsertMerge":
				client.UpsertEntity(t.Context(), entity, nil)
			case "Table.Get":
				client.GetEntity(t.Context(), pk, rk, nil)
			case "Table.Delete":
				client.DeleteEntity(t.Context(), pk, rk, nil)
			}
			if log := account.Log(); len(log) != 1 || log[0].Op != op || log[0].Code != want || log[0].Status == 0 {
				t.Errorf("%s: %s on (%s, %s), want code %q:\n%v", service.url, op, pk, rk, want, log)
			}
		}
		for _, op := range []string{"Table.UpsertMerge", "Table.Get"} {
			try(op, "O'Brien & co+", "email_x", "")
			try(op, "O'Brien & co+", "email_", "")
			try(op, "O'Brien & co+", "email`", "AuthorizationFailure")
			try(op, "O'Brien & co+", "empid_1", "AuthorizationFailure")
			try(op, "O'Brien", "email_x", "AuthorizationFailure")
		}
		try("Table.Delete", "O'Brien & co+", "email_x", "AuthorizationPermissionMismatch")
	}
}

// claim is the entity of the tests that use patterns.Table.
type claim struct {
	PartitionKey, RowKey string
	N                    int32
}

func TestAPatternsTableWorksWithAToken(t *testing.T) {
	for _, mode := range []string{"plain", "accelerated"} {
		t.Run(mode, func(t *testing.T) {
			onServices(t, func(t *testing.T, a account) {
				_, name := a.table(t, key("alice", "a"), key("bob", "a"))
				s := access.Scope{Table: name, Range: access.Partition("alice"), Allow: access.All, Expiry: time.Now().Add(time.Hour), AllowHTTP: !a.strict}
				token := assert.Must(access.Sign(a.cred, a.url, s))(t)
				opts := &aztables.ClientOptions{ClientOptions: options(a.transport)}
				if mode == "accelerated" {
					patterns.Accelerate(&opts.ClientOptions)
				}
				client := assert.Must(token.Client(opts))(t)
				table := assert.Must(patterns.NewTable[claim](client, nil))(t)

				assert.Equal(t, assert.ErrorOf(table.Insert(t.Context(), &claim{"alice", "b", 2})), nil)
				assert.Equal(t, assert.ErrorOf(table.Update(t.Context(), key("alice", "b"), func(c *claim) error { c.N++; return nil })), nil)
				assert.Equal(t, assert.Must(table.Get(t.Context(), key("alice", "b")))(t).Value.N, 3)
				if !a.strict {
					return // Azurite ignores ranges and refuses batches
				}
				assert.Equal(t, assert.ErrorOf(table.Batch().Insert(&claim{"alice", "c", 1}).Delete(key("alice", "a"), "").Commit(t.Context())), nil)
				var got []string
				for item, err := range table.Query(t.Context(), query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan}) {
					assert.NoError(t, err)
					got = append(got, item.Key.Partition+"/"+item.Key.Row)
				}
				assert.EqualSlices(t, got, []string{"alice/b", "alice/c"}, "the table is")
				_, err := table.Get(t.Context(), key("bob", "a"))
				wantRefused(t, err, "AuthorizationFailure")
				_, err = table.Insert(t.Context(), &claim{"bob", "b", 1})
				wantRefused(t, err, "AuthorizationFailure")
				err = table.Delete(t.Context(), keys.Key{Partition: "bob", Row: "a"}, "")
				wantRefused(t, err, "AuthorizationFailure")
				if _, err := table.Batch().Insert(&claim{"bob", "b", 1}).Insert(&claim{"bob", "c", 1}).Commit(t.Context()); err == nil {
					t.Error("a batch outside the range was applied")
				}
			})
		})
	}
}
