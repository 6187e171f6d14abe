package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/examples/migrate/after"
	"github.com/azpatterns/azpatterns/examples/migrate/before"
	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestTheMigrationPrintsEachStepAndItsRequests(t *testing.T) {
	t.Run("in process", func(t *testing.T) { migrate(t, "") })
	t.Run("azurite", func(t *testing.T) { migrate(t, azurite.Shared(t).ConnectionString()) })
}

func migrate(t *testing.T, connection string) {
	t.Setenv(account.Connection, connection)
	var out bytes.Buffer
	assert.NoError(t, run(t.Context(), &out, account.Flags{}), &out)
	// The number of requests varies if services compete, and if requests are concurrent.
	for _, want := range []string{
		`by hand: created the table and added 200 products +201 requests`,
		`by hand: found 20 products of a supplier, by reading the whole table +1 request`,
		`both services sold 25 pieces concurrently, and read stocks of 950 and 950 +[0-9]+ requests`,
		`renamed 200 products; all their other properties have the same bytes +40[0-9] requests`,
		`each service added a product +2 requests`,
		`by hand there are 2 products in the category, by azpatterns 2 +2 requests`,
		`the last writer on aztables has ended; added a product, but not its index row +4 requests`,
		`by hand there are 4 products, the last one with the row key ~azp_outbox… +1 request`,
		`by hand, with RowKey lt '~azp', there are 3 products +1 request`,
		`created the table of the index +5 requests`,
		`completed the operation +[0-9]+ requests`,
		`stored the index rows of 202 products +4[0-9]{2} requests`,
		`verified both tables: 0 rows are wrong +[1-9] requests`,
		`first: complete, .*; 203 primaries in 4[0-9]{2} rows; filled 0; missing 0, wrong 0, orphan 0, duplicate 0, undecided 0; .*`,
		`two workers verified both tables +[0-9]+ requests`,
		`found 23 products of the supplier by the index +1 request`,
	} {
		if os.Getenv(storagetest.ProductionVariable) != "" { // pages are shorter
			want = regexp.MustCompile(` \+\S* requests?$`).ReplaceAllString(want, ` +[0-9]+ requests?`)
		}
		if !regexp.MustCompile(want + `\n`).MatchString(out.String()) {
			t.Errorf("the output lacks %s:\n%s", want, &out)
		}
	}
}

func TestAnUnknownRunIsNotFound(t *testing.T) {
	t.Setenv(account.Connection, "")
	assert.WantError(t, status(t.Context(), io.Discard, account.Flags{}, "Runs", "first"), patterns.ErrTableNotFound)
}

// services returns both services on a new table, whose client repeats requests quickly.
func services(t *testing.T) (*storagetest.Account, *before.Catalogue, *after.Catalogue) {
	t.Helper()
	acct := storagetest.New(t)
	opts := &aztables.ClientOptions{}
	opts.Retry = policy.RetryOptions{RetryDelay: time.Millisecond}
	tables := acct.TablesWith(opts)
	outbox := assert.Must(eventual.NewOutbox(acct.Queue("products"), "", nil))(t)
	products := tables.NewClient("Products")
	migrated := assert.Must(after.New(products, tables.NewClient("BySupplier"), outbox, true))(t)
	assert.NoError(t, migrated.Store.Create(t.Context()))
	return acct, before.New(products), migrated
}

func TestTheMistakesAreRealAndTheMigratedServiceDoesNotMakeThem(t *testing.T) {
	ctx := t.Context()
	acct, byHand, migrated := services(t)

	acct.Fault(storagetest.On("Table.Insert").Nth(1).LoseReply())
	if err := byHand.Add(ctx, before.Product{PartitionKey: "screws", RowKey: "1", Price: 3, Stock: 100, Supplier: "O'Hara"}); !errors.Is(err, before.ErrExists) {
		t.Errorf("by hand, a product that was added: %v", err)
	}
	acct.ClearFaults()
	acct.Fault(storagetest.On("Table.Insert").Nth(1).LoseReply())
	if err := migrated.Add(ctx, after.Product{Category: "screws", Article: "2", Price: 3, Stock: 100, Supplier: "O'Hara"}); err != nil {
		t.Errorf("migrated, a product that was added: %v", err)
	}
	acct.ClearFaults()

	for article, want := range map[string]string{"1": "int32", "2": "float64"} {
		assert.Equal(t, priceType(t, acct, article), want, "the price of product", article, "is of type")
	}

	for name, s := range map[string]struct {
		sell func(context.Context, string, string, int) error
		want int
	}{"1": {byHand.Sell, 80}, "2": {migrated.Sell, 90}} {
		acct.Fault(storagetest.On("Table.*").Nth(2).LoseReply())
		assert.Equal(t, s.sell(ctx, "screws", name, 10), nil)
		acct.ClearFaults()
		assert.Equal(t, assert.Must(migrated.Get(ctx, "screws", name))(t).Stock, s.want, name)
	}

	if _, err := byHand.InCategory(ctx, "' or PartitionKey ne '"); err != nil {
		t.Errorf("by hand, a quote in the category: %v", err)
	} else if all, _ := byHand.InCategory(ctx, "' or PartitionKey ne '"); len(all) != 2 {
		t.Errorf("by hand, a quote in the category: %d products", len(all))
	}
	assert.Equal(t, len(assert.Must(migrated.InCategory(ctx, "' or PartitionKey ne '"))(t)), 0)

	acct.ResetLog()
	assert.NoError(t, assert.ErrorOf(byHand.BySupplier(ctx, "nobody")))
	assert.Equal(t, acct.Log().Scanned(), 2)
	acct.ResetLog()
	assert.NoError(t, assert.ErrorOf(migrated.BySupplier(ctx, "nobody")))
	assert.Equal(t, acct.Log().Scanned(), 0)
}

// priceType returns the type of the property Price that the service has stored. aztables
// does not show it: a Double that is whole arrives as an int32.
func priceType(t *testing.T, acct *storagetest.Account, article string) string {
	t.Helper()
	rows := assert.Must(patterns.NewTable[patterns.Row](acct.Tables().NewClient("Products"), nil))(t)
	item := assert.Must(rows.Get(t.Context(), keys.Key{Partition: "screws", Row: article}))(t)
	price, _ := item.Property("Price")
	return fmt.Sprintf("%T", price)
}
