package txn_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// writer is one way to write the row of tally. It returns the ETag, "" for a delete.
type writer struct {
	name    string
	op      string // of its request
	onNew   bool   // the row does not exist before
	gone    bool   // a delete that also succeeds if the row does not exist
	byEqual bool   // without stamps, equal content is as good as the write, which has no condition
	write   func(ctx context.Context, table *patterns.Table[counter], item patterns.Item[counter]) (azcore.ETag, error)
}

func etag[T any](item patterns.Item[T], err error) (azcore.ETag, error) { return item.ETag, err }

var writers = []writer{
	{name: "insert", op: "Table.Insert", onNew: true, write: func(ctx context.Context, table *patterns.Table[counter], _ patterns.Item[counter]) (azcore.ETag, error) {
		return etag(table.Insert(ctx, &counter{"hits", "0", 2}))
	}},
	{name: "upsert merge", op: "Table.UpsertMerge", byEqual: true, write: func(ctx context.Context, table *patterns.Table[counter], _ patterns.Item[counter]) (azcore.ETag, error) {
		return etag(table.Upsert(ctx, &counter{"hits", "0", 2}, patterns.Merge))
	}},
	{name: "upsert replace", op: "Table.UpsertReplace", byEqual: true, write: func(ctx context.Context, table *patterns.Table[counter], _ patterns.Item[counter]) (azcore.ETag, error) {
		return etag(table.Upsert(ctx, &counter{"hits", "0", 2}, patterns.Replace))
	}},
	{name: "replace", op: "Table.Replace", write: func(ctx context.Context, table *patterns.Table[counter], item patterns.Item[counter]) (azcore.ETag, error) {
		item.Value.N++
		return etag(table.Replace(ctx, item))
	}},
	{name: "merge", op: "Table.Merge", write: func(ctx context.Context, table *patterns.Table[counter], item patterns.Item[counter]) (azcore.ETag, error) {
		item.Value.N++
		return etag(table.Merge(ctx, item))
	}},
	{name: "replace any", op: "Table.Replace", byEqual: true, write: func(ctx context.Context, table *patterns.Table[counter], item patterns.Item[counter]) (azcore.ETag, error) {
		item.Value.N++
		item.ETag = azcore.ETagAny
		return etag(table.Replace(ctx, item))
	}},
	{name: "update once", op: "Table.Replace", write: func(ctx context.Context, table *patterns.Table[counter], _ patterns.Item[counter]) (azcore.ETag, error) {
		ran := 0
		return etag(table.Update(ctx, tally, func(c *counter) error {
			if ran++; ran > 1 {
				return patterns.ErrConflict // no second run
			}
			c.N++
			return nil
		}))
	}},
	{name: "delete", op: "Table.Delete", gone: true, write: func(ctx context.Context, table *patterns.Table[counter], _ patterns.Item[counter]) (azcore.ETag, error) {
		return "", table.Delete(ctx, tally, "")
	}},
	{name: "delete any", op: "Table.Delete", write: func(ctx context.Context, table *patterns.Table[counter], _ patterns.Item[counter]) (azcore.ETag, error) {
		return "", table.Delete(ctx, tally, azcore.ETagAny)
	}},
	{name: "delete exactly", op: "Table.Delete", write: func(ctx context.Context, table *patterns.Table[counter], item patterns.Item[counter]) (azcore.ETag, error) {
		return "", table.Delete(ctx, tally, item.ETag)
	}},
	{name: "batch insert", op: "Table.Batch", onNew: true, write: func(ctx context.Context, table *patterns.Table[counter], _ patterns.Item[counter]) (azcore.ETag, error) {
		return first(table.Batch().Insert(&counter{"hits", "0", 2}).Insert(&counter{"hits", "1", 1}).Commit(ctx))
	}},
	{name: "batch upsert", op: "Table.Batch", write: func(ctx context.Context, table *patterns.Table[counter], _ patterns.Item[counter]) (azcore.ETag, error) {
		return first(table.Batch().Upsert(&counter{"hits", "0", 2}, patterns.Replace).Upsert(&counter{"hits", "1", 1}, patterns.Replace).Commit(ctx))
	}},
	{name: "batch replace", op: "Table.Batch", write: func(ctx context.Context, table *patterns.Table[counter], item patterns.Item[counter]) (azcore.ETag, error) {
		item.Value.N++
		return first(table.Batch().Replace(item).Insert(&counter{"hits", "1", 1}).Commit(ctx))
	}},
}

func first(r patterns.BatchResult, err error) (azcore.ETag, error) {
	if err != nil {
		return "", err
	}
	return r.ETags[0], nil
}

// competitor changes the row between the writer's first try and its second one.
type competitor struct {
	name string
	act  func(t testing.TB, stamped *patterns.Table[counter], raw *aztables.Client)
}

const rawTally = `{"PartitionKey":"hits","RowKey":"0","N@odata.type":"Edm.Int64","N":"%d"}`

var competitors = []competitor{
	{"none", nil},
	{"update", func(t testing.TB, table *patterns.Table[counter], _ *aztables.Client) {
		assert.MayFail(table.Update(t.Context(), tally, func(c *counter) error { c.N += 10; return nil }))
	}},
	{"same update", func(t testing.TB, table *patterns.Table[counter], _ *aztables.Client) {
		assert.MayFail(table.Update(t.Context(), tally, func(c *counter) error { c.N = 2; return nil }))
	}},
	{"ten updates", func(t testing.TB, table *patterns.Table[counter], _ *aztables.Client) {
		for range 10 {
			assert.MayFail(table.Update(t.Context(), tally, func(c *counter) error { c.N++; return nil }))
		}
	}},
	{"insert", func(t testing.TB, table *patterns.Table[counter], _ *aztables.Client) {
		assert.MayFail(table.Insert(t.Context(), &counter{"hits", "0", 7}))
	}},
	{"blind upsert", func(t testing.TB, table *patterns.Table[counter], _ *aztables.Client) {
		assert.MayFail(table.Upsert(t.Context(), &counter{"hits", "0", 8}, patterns.Replace))
	}},
	{"blind merge", func(t testing.TB, table *patterns.Table[counter], _ *aztables.Client) {
		assert.MayFail(table.Upsert(t.Context(), &counter{"hits", "0", 8}, patterns.Merge))
	}},
	{"merge any", func(t testing.TB, table *patterns.Table[counter], _ *aztables.Client) {
		item, err := table.Get(t.Context(), tally)
		if err == nil {
			item.ETag = azcore.ETagAny
			assert.MayFail(table.Merge(t.Context(), item))
		}
	}},
	{"stranger's replace", func(t testing.TB, _ *patterns.Table[counter], raw *aztables.Client) {
		assert.MayFail(raw.UpsertEntity(t.Context(), fmt.Appendf(nil, rawTally, 9), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}))
	}},
	{"stranger's equal replace", func(t testing.TB, _ *patterns.Table[counter], raw *aztables.Client) {
		assert.MayFail(raw.UpsertEntity(t.Context(), fmt.Appendf(nil, rawTally, 2), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}))
	}},
	{"stranger's merge", func(t testing.TB, _ *patterns.Table[counter], raw *aztables.Client) {
		assert.MayFail(raw.UpsertEntity(t.Context(), fmt.Appendf(nil, rawTally, 9), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeMerge}))
	}},
	{"delete", func(t testing.TB, _ *patterns.Table[counter], raw *aztables.Client) {
		assert.MayFail(raw.DeleteEntity(t.Context(), "hits", "0", nil))
	}},
}

// scripts are the faults of the tries of a write, one letter each: R lost reply, Q lost request, 5 InternalError,
// B ServerBusy, U another 503. A try without a letter succeeds.
var scripts = []string{"", "R", "Q", "5", "U", "BR", "QR", "RRRR", "QQQQ", "5555", "BBBB", "RBBB"}

func (w writer) rules(script string) []storagetest.Rule {
	var rules []storagetest.Rule
	for i, letter := range script {
		r := storagetest.On(w.op).Nth(i + 1)
		switch letter {
		case 'R':
			r = r.LoseReply()
		case 'Q':
			r = r.LoseRequest()
		case '5':
			r = r.Status(http.StatusInternalServerError, "InternalError")
		case 'B':
			r = r.Status(http.StatusServiceUnavailable, "ServerBusy")
		case 'U':
			r = r.Status(http.StatusServiceUnavailable, "InternalError")
		}
		rules = append(rules, r)
	}
	return rules
}

// Every kind of write meets every script, with every competitor in between. The outcome that it reports is compared with
// what the service has applied.
func TestNoReportedOutcomeContradictsTheService(t *testing.T) {
	t.Parallel()
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		harness.WithoutTargets(b.Account)
		number, sample := 0, harness.Sample(t, 2)
		for _, stamped := range []bool{false, true} {
			for _, old := range []bool{false, true} {
				for _, w := range writers {
					if old && (w.onNew || !stamped) {
						continue // no row, or no stamps: an equal case exists
					}
					for _, c := range competitors {
						for _, script := range scripts {
							if number++; !sample(number) {
								continue
							}
							checkCase(t, b, w, c, script, stamped, old)
						}
					}
				}
			}
		}
	})
}

// checkCase runs one case. old selects a row that was written without stamps.
func checkCase(t *testing.T, b *harness.Backend, w writer, c competitor, script string, stamped, old bool) {
	t.Helper()
	ctx := t.Context()
	what := fmt.Sprintf("%s, tries %q, then %s, stamped %v, row without stamps %v", w.name, script, c.name, stamped, old)
	name := harness.UniqueName()
	b.NamedTable(t, name)
	raw := b.Direct(t, name)
	opts := &patterns.TableOptions[counter]{StampWrites: stamped}
	rival := harness.NewTable(t, raw, &patterns.TableOptions[counter]{StampWrites: true})

	var item patterns.Item[counter]
	if !w.onNew {
		if old {
			assert.MayFail(raw.AddEntity(ctx, fmt.Appendf(nil, rawTally, 1), nil))
		} else {
			harness.Insert(t, harness.NewTable(t, raw, opts), counter{"hits", "0", 1})
		}
		item = harness.Get(t, harness.NewTable(t, raw, opts), tally)
	}
	armed := false
	client := b.AfterEachTry(t, name, func(int) {
		if armed && b.Requests().Count(w.op) == 1 && c.act != nil {
			armed = false
			c.act(t, rival, raw)
		}
	})
	armed = true
	b.ClearFaults()
	b.ResetRequests()
	b.Fault(w.rules(script)...)
	got, err := w.write(ctx, harness.NewTable(t, client, opts), item)

	applied := false
	for _, q := range b.Requests().Only(w.op) {
		if q.Sent && q.Status < 300 && q.Code == "" {
			applied = true
		}
	}
	now, missing := rival.Get(ctx, tally)
	equal := missing == nil && now.Value.N == 2 && w.byEqual && !stamped
	absent := errors.Is(missing, patterns.ErrNotFound) && w.gone
	fail := func(text string) {
		t.Helper()
		t.Errorf("%s: %s: returned %v, applied %v, row now %+v %v\n%v", what, text, err, applied, now.Value, missing, b.Requests())
	}
	switch {
	case err == nil && !applied && !equal && !absent:
		fail("success without a write")
	case err != nil && !errors.Is(err, patterns.ErrOutcomeUnknown) && applied:
		fail("failure although it was written")
	case errors.Is(err, patterns.ErrOutcomeUnknown) && errors.Is(err, patterns.ErrConflict):
		fail("an unknown outcome that suggests a retry")
	case errors.Is(err, patterns.ErrOutcomeUnknown) && strings.Trim(script, "B") == "" && b.Accelerated:
		fail("unknown although every try had a response")
	case errors.Is(err, patterns.ErrOutcomeUnknown) && stamped && applied && c.act == nil && !strings.HasPrefix(w.name, "delete"):
		fail("unknown although the row has the stamp")
	case err == nil && applied && c.act == nil && missing == nil && got != now.ETag:
		fail(fmt.Sprintf("ETag %s returned, the row has %s", got, now.ETag))
	case err == nil && applied && now.Value.N > 2 && got == now.ETag:
		fail("the competitor's ETag returned")
	case got == azcore.ETagAny:
		fail("an ETag returned that matches every version")
	}
	assert.WantHidden(t, err, "hits")
}

func TestLostRepliesAreResolvedOnEveryAccount(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, w := range writers {
			if w.op == "Table.Batch" {
				continue // only the in-process account logs the outcome of a transaction
			}
			for _, c := range competitors {
				for _, script := range []string{"R", "Q"} {
					checkCase(t, b, w, c, script, true, false)
				}
			}
		}
	})
}

// A merge keeps other properties of the row, which are no evidence of its outcome.
func TestALostMergeIsRecognizedIfTheRowHasOtherProperties(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		for what, script := range map[string]string{"merge": "R", "upsert": "RRRR"} {
			name := harness.UniqueName()
			b.NamedTable(t, name)
			raw := b.Direct(t, name)
			assert.MayFail(raw.AddEntity(t.Context(), []byte(`{"PartitionKey":"hits","RowKey":"0","N@odata.type":"Edm.Int64","N":"1","Other":"x"}`), nil))
			table := harness.NewTable[counter](t, b.AfterEachTry(t, name, func(int) {}), nil)
			item := harness.Get(t, harness.NewTable[counter](t, raw, nil), tally)
			item.Value.N, item.ETag = 2, azcore.ETagAny
			b.ClearFaults()
			var err error
			if what == "merge" {
				b.Fault(writer{op: "Table.Merge"}.rules(script)...)
				_, err = table.Merge(t.Context(), item)
			} else {
				b.Fault(writer{op: "Table.UpsertMerge"}.rules(script)...)
				_, err = table.Upsert(t.Context(), &item.Value, patterns.Merge)
			}
			if got := harness.Get(t, table, tally); err != nil || got.Value.N != 2 {
				t.Errorf("%s: %v, the row has %d", what, err, got.Value.N)
			}
		}
	})
}
