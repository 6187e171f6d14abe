package patterns_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func TestAcceleratedTwiceIsAcceleratedOnce(t *testing.T) {
	acct, name := harness.NewAccount(t)
	opts, before := &aztables.ClientOptions{}, aztables.ClientOptions{}
	opts.PerRetryPolicies = make([]policy.Policy, 0, 1)
	before.PerRetryPolicies = opts.PerRetryPolicies[:1]
	for range 2 {
		patterns.Accelerate(&opts.ClientOptions)
		patterns.LimitReplies(&opts.ClientOptions)
		patterns.Accelerate(nil)
		patterns.LimitReplies(nil)
	}
	if n, m := len(opts.PerRetryPolicies), len(opts.PerCallPolicies); n != 1 || m != 1 {
		t.Errorf("%d policies for each try, %d for each call", n, m)
	}
	assert.Equal(t, before.PerRetryPolicies[0], nil, "options that share the slice were changed")
	table := harness.NewTable[counter](t, acct.TablesWith(opts).NewClient(name), nil)
	harness.Insert(t, table, counter{"hits", "0", 1})
	assert.Equal(t, assert.ErrorOf(table.Update(t.Context(), tally, addOne)), nil)
	assert.Equal(t, assert.ErrorOf(table.Batch().Upsert(&counter{"hits", "1", 1}, patterns.Merge).Commit(t.Context())), nil)
	assert.Equal(t, len(assert.All(t, table.Query(t.Context(), query.PartitionKey.Eq("hits"), nil))), 2, "rows")
}

// creating is a policy that creates the table if a request does not find it.
type creating struct {
	service *aztables.ServiceClient
	table   string
	created int
}

func (c *creating) Do(req *policy.Request) (*http.Response, error) {
	resp, err := req.Clone(req.Raw().Context()).Next()
	if err != nil || resp.StatusCode != http.StatusNotFound {
		return resp, err
	}
	c.created++
	if _, err := c.service.CreateTable(req.Raw().Context(), c.table, nil); err != nil {
		return nil, err
	}
	if err := req.RewindBody(); err != nil {
		return nil, err
	}
	return req.Next()
}

func TestAnotherPolicyMayCreateAMissingTable(t *testing.T) {
	for mode, accelerate := range map[string]func(*azcore.ClientOptions){
		"plain":       func(*azcore.ClientOptions) {},
		"accelerated": patterns.Accelerate,
	} {
		t.Run(mode, func(t *testing.T) {
			acct := storagetest.New(t)
			for what, write := range map[string]func(*patterns.Table[counter]) error{
				"insert": func(table *patterns.Table[counter]) error {
					_, err := table.Insert(t.Context(), &counter{"hits", "0", 1})
					return err
				},
				"upsert": func(table *patterns.Table[counter]) error {
					_, err := table.Upsert(t.Context(), &counter{"hits", "0", 1}, patterns.Replace)
					return err
				},
			} {
				opts := &aztables.ClientOptions{}
				accelerate(&opts.ClientOptions)
				maker := &creating{service: acct.TablesWith(opts), table: harness.UniqueName()}
				opts.PerCallPolicies = append(opts.PerCallPolicies, maker)
				table := harness.NewTable[counter](t, acct.TablesWith(opts).NewClient(maker.table), nil)
				if err := write(table); err != nil || maker.created != 1 {
					t.Errorf("%s: %v, created %d times", what, err, maker.created)
					continue
				}
				assert.Equal(t, harness.Get(t, table, tally).Value.N, 1, what, "another row")
			}
		})
	}
}

// A shared access signature is part of the address of every request.
func TestSharedAccessSignaturesWorkInEveryOperation(t *testing.T) {
	for mode, accelerate := range map[string]bool{"plain": false, "accelerated": true} {
		t.Run(mode, func(t *testing.T) {
			acct, name := harness.NewAccount(t)
			owner := acct.Tables()
			all := aztables.AccountSASPermissions{Read: true, Write: true, Delete: true, List: true, Add: true, Create: true, Update: true}
			address, err := owner.GetAccountSASURL(aztables.AccountSASResourceTypes{Service: true, Container: true, Object: true}, all, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
			assert.NoError(t, err)
			opts := &aztables.ClientOptions{}
			opts.Transport = acct.Transport()
			if accelerate {
				patterns.Accelerate(&opts.ClientOptions)
			}
			service := assert.Must(aztables.NewServiceClientWithNoCredential(address, opts))(t)
			table := harness.NewTable[counter](t, service.NewClient(name), nil)
			for round := range 2 { // the first request may be of any kind
				v := counter{"hits", string(rune('a' + round)), 1}
				assert.NoError(t, assert.ErrorOf(table.Batch().Upsert(&v, patterns.Replace).Commit(t.Context())))
				assert.NoError(t, assert.ErrorOf(table.Update(t.Context(), v.Key(), addOne)))
				assert.NoError(t, table.Delete(t.Context(), v.Key(), ""))
			}
			if base, ok := table.URL(); ok && base != storagetest.TablesURL+"/"+name {
				t.Errorf("the table is at %s", base)
			}
		})
	}
}
