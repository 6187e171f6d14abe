package tablectl

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

type order struct {
	PartitionKey, RowKey string
	State                string
	Total                int64
}

// newOrders declares a Store with a journal.
func newOrders(a *Account, content journal.Content) (*patterns.Store[order], *journal.Changes[order], error) {
	changes := journal.Of("changes", &journal.Options[order]{Content: content, Keep: time.Hour})
	table, err := patterns.NewTable[order](a.Table("Orders"), nil)
	if err != nil {
		return nil, nil, err
	}
	store, err := patterns.NewStore(table, &patterns.StoreOptions[order]{Views: []patterns.View[order]{changes}})
	return store, changes.On(store), err
}

func changesOfOrders(content journal.Content) func(*Account) (*journal.Changes[order], error) {
	return func(a *Account) (*journal.Changes[order], error) {
		_, changes, err := newOrders(a, content)
		return changes, err
	}
}

// changedOrder returns an account with an order that was inserted, changed after an hour, and deleted after another, and when the
// service has stored each change.
func changedOrder(t *testing.T, content journal.Content) (acct *storagetest.Account, at map[string]string) {
	t.Helper()
	acct, at = storagetest.Start(nil), map[string]string{}
	store, changes, err := newOrders(assert.Must((&cli{demo: acct}).openDemo(t.Context()))(t), content)
	assert.NoError(t, err)
	assert.NoError(t, store.Create(t.Context()))
	assert.NoError(t, assert.ErrorOf(store.Insert(t.Context(), &order{"shop", "it's 7", "new", 5})))
	time.Sleep(time.Hour)
	assert.NoError(t, assert.ErrorOf(store.Put(t.Context(), &order{"shop", "it's 7", "paid", 5})))
	time.Sleep(time.Hour)
	key := keys.Key{Partition: "shop", Row: "it's 7"}
	assert.NoError(t, store.Delete(t.Context(), key))
	for c, err := range changes.History(t.Context(), key, nil) {
		assert.NoError(t, err)
		at[c.Event.String()] = c.At.Format(time.RFC3339Nano)
	}
	return acct, at
}

// serve runs a command line of a program with Stores.
func serve(t *testing.T, acct *storagetest.Account, stores []Store, args ...string) output {
	t.Helper()
	var out, errs bytes.Buffer
	c := &cli{in: strings.NewReader(""), out: &out, err: &errs, demo: acct, stores: stores}
	code := c.run(t.Context(), args)
	return output{code, out.String(), errs.String()}
}

func TestTheJournalOfAnEntityIsPrintedNewestFirst(t *testing.T) {
	const row = `{"PartitionKey":"shop","RowKey":"it's 7","State":"new","Total@odata.type":"Edm.Int64","Total":"5"}`
	paid := strings.Replace(row, "new", "paid", 1)
	const inserted, updated, deleted = "0000000001-0000000001  inserted", "0000000001-0000000002  updated", "0000000001-0000000003  deleted"
	for _, c := range []struct {
		content journal.Content
		flags   string
		want    []string
	}{
		{journal.After, "", []string{deleted, "< " + paid, updated, "> " + paid, inserted, "> " + row, "3 changes"}},
		{journal.After, "-top 1", []string{deleted, "< " + paid, "1 change"}},
		{journal.After, "-as-of 2000-01-01T01:30:00Z", []string{updated, "> " + paid, "1 change"}},
		{journal.After, "-as-of 2000-01-01T02:30:00+01:00", []string{updated, "> " + paid, "1 change"}},
		{journal.After, "-as-of 2000-01-01T12:00:00Z", []string{deleted, "< " + paid, "1 change"}},
		{journal.BeforeAndAfter, "-as-of 2000-01-01T01:30:00Z", []string{updated, "< " + row, "> " + paid, "1 change"}},
		{journal.Changed, "-as-of 2000-01-01T01:30:00Z", []string{updated, `> {"PartitionKey":"shop","RowKey":"it's 7","State":"paid"}`, "1 change"}},
		{journal.Changed, "", []string{deleted, "< " + paid, updated, `> {"PartitionKey":"shop","RowKey":"it's 7","State":"paid"}`, inserted, "> " + row, "3 changes"}},
		{journal.KeyOnly, "", []string{deleted, updated, inserted, "3 changes"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			acct, at := changedOrder(t, c.content)
			stores := []Store{JournalOf("orders", changesOfOrders(c.content))}
			o := serve(t, acct, stores, append(strings.Fields("journal -demo "+c.flags), "orders", "shop", "it's 7")...)
			assert.Equal(t, o.code, exitDone, o.err)
			want := strings.Join(c.want, "\n") + "\n"
			for event, time := range at {
				want = strings.ReplaceAll(want, "  "+event, "  "+event+" "+time)
			}
			assert.Equal(t, o.out, want, c.content, c.flags)
		})
	}
}

func TestTheJournalIsJSONAndIsSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct, at := changedOrder(t, journal.Changed)
		stores := []Store{JournalOf("orders", changesOfOrders(journal.Changed))}
		o := serve(t, acct, stores, "journal", "-demo", "-json", "-as-of", "2000-01-01T01:30:00Z", "orders", "shop", "it's 7")
		assert.Equal(t, o.out, `{"version":"0000000001-0000000002","event":"updated","at":"`+at["updated"]+
			`","changed":["State"],"after":{"PartitionKey":"shop","RowKey":"it's 7","State":"paid"}}`+"\n"+`{"changes":1}`+"\n")
		assert.Equal(t, serve(t, acct, stores, "journal", "-demo", "orders", "shop", "none").out, "0 changes\n")
		o = serve(t, acct, stores, "journal", "-demo", "-as-of", "1999-01-01T00:00:00Z", "orders", "shop", "it's 7")
		assert.Equal(t, o.code, exitFailure)
		assert.Contains(t, o.err, "tablectl: as of: not found")
		time.Sleep(2 * time.Hour)
		assert.Contains(t, serve(t, acct, stores, "sweep", "-demo", "orders").out, "2 removed")
		assert.Contains(t, serve(t, acct, stores, "journal", "-demo", "orders", "shop", "it's 7").out, "\n1 change\n")
	})
}

func TestABadCommandLineOfTheJournalMakesNoRequest(t *testing.T) {
	acct := storagetest.Start(nil)
	expired := func(a *Account) (eventual.Sweeper, error) { return changesOfOrders(journal.After)(a) }
	stores := []Store{JournalOf("orders", changesOfOrders(journal.After)), ToSweep("to-sweep", expired)}
	for line, want := range map[string]string{
		"-as-of yesterday orders shop 7":                   "parsing time",
		"-as-of 2000-01-01 orders shop 7":                  "parsing time",
		"-top -1 orders shop 7":                            "-top is a positive number",
		"-top 1 -as-of 2000-01-01T00:00:00Z orders shop 7": "has no meaning with -as-of",
		"orders shop":         "journal has the arguments JOURNAL PARTITIONKEY ROWKEY",
		"orders a/b 7":        "PartitionKey: forbidden character",
		"orders shop a#b":     "RowKey: forbidden character",
		"people Sales 000001": "people has no journal",
		"to-sweep shop 7":     "to-sweep has no journal",
		"others shop 7":       `no Store "others": this program knows orders, to-sweep, people`,
		"-as-of 2000-01-01T00:00:00Z -csv orders shop order": "not defined: -csv",
	} {
		o := serve(t, acct, stores, append([]string{"journal", "-demo"}, strings.Fields(line)...)...)
		assert.Equal(t, o.code, exitUsage, line)
		assert.Contains(t, o.err, want, line)
		assert.Equal(t, o.out, "", line)
	}
	assert.Equal(t, serve(t, acct, stores, "verify", "-demo", "orders").code, exitUsage)
	assert.Equal(t, len(acct.Log()), 0, "requests")
}
