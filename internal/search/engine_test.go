package search_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/search"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

var errLost = errors.New("an update is lost")

// counting is a case of two processes that each add 1 to a row, under its ETag if safe is set.
func counting(safe bool) *search.Case {
	return &search.Case{Switches: -1, Start: func(ctx context.Context, w *search.World) (*search.System, error) {
		if _, err := w.Table.AddEntity(ctx, []byte(`{"PartitionKey":"p","RowKey":"r","N":"0"}`), nil); err != nil {
			return nil, err
		}
		sys, added := &search.System{}, 0
		for _, name := range []string{"A", "B"} {
			c := w.Client(name)
			table := c.Tables(0).NewClient(search.TableName)
			sys.Processes = append(sys.Processes, search.Process{Client: c, Run: func(ctx context.Context) {
				row, err := table.GetEntity(ctx, "p", "r", nil)
				if err != nil {
					return
				}
				var n int
				_, _ = fmt.Sscanf(textOf(row.Value, `"N":"`), "%d", &n)
				opts := &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge}
				if safe {
					etag := azcore.ETag(row.ETag)
					opts.IfMatch = &etag
				}
				if _, err := table.UpdateEntity(ctx, []byte(fmt.Sprintf(`{"PartitionKey":"p","RowKey":"r","N":"%d"}`, n+1)), opts); err == nil {
					added++
				}
			}})
		}
		sys.Finish = func(ctx context.Context) error {
			rows, err := w.Rows(ctx)
			if err == nil && rows[0].Text("N") != fmt.Sprint(added) {
				err = fmt.Errorf("%w: %s after %d", errLost, rows[0].Text("N"), added)
			}
			return err
		}
		return sys, nil
	}}
}

// textOf returns what follows a text in body.
func textOf(body []byte, after string) string {
	for i := range body {
		if len(body)-i > len(after) && string(body[i:i+len(after)]) == after {
			return string(body[i+len(after):])
		}
	}
	return ""
}

func TestALostUpdateIsFoundAndItsChoicesRepeatIt(t *testing.T) {
	r := search.Run(t, counting(false))
	assert.WantError(t, r.Violation, errLost)
	trace, again := search.Replay(t, counting(false), r.Choices)
	assert.WantError(t, again, errLost)
	assert.Equal(t, len(trace), len(r.Choices), "choices in the trace")
	_, alone := search.Replay(t, counting(false), nil)
	assert.NoError(t, alone, "without a switch")
}

func TestABoundOfSwitchesLimitsWhatIsFound(t *testing.T) {
	c := counting(false)
	c.Switches = 0
	assert.NoError(t, search.Run(t, c).Violation)
	c.Switches = 1
	assert.WantError(t, search.Run(t, c).Violation, errLost)
}

func TestACorrectCaseHasNoViolation(t *testing.T) {
	r := search.Run(t, counting(true))
	assert.NoError(t, r.Violation)
	if r.Ends < 2 || r.Runs < 2 {
		t.Errorf("%v, want the orders in which one process is refused and those in which none is", r)
	}
}

// A transaction depends on the requests for each of its rows: one process copies a row, and another one changes both in a transaction.
func TestARequestNextToATransactionOfItsRowIsFound(t *testing.T) {
	r := search.Run(t, &search.Case{Switches: -1, Start: func(ctx context.Context, w *search.World) (*search.System, error) {
		row := func(key string, n int) []byte {
			return fmt.Appendf(nil, `{"PartitionKey":"p","RowKey":%q,"N":"%d"}`, key, n)
		}
		for _, key := range []string{"copy", "row"} {
			if _, err := w.Table.AddEntity(ctx, row(key, 0), nil); err != nil {
				return nil, err
			}
		}
		sys := &search.System{}
		a, b := w.Client("A"), w.Client("B")
		from, both := a.Tables(0).NewClient(search.TableName), b.Tables(0).NewClient(search.TableName)
		sys.Processes = []search.Process{{Client: a, Run: func(ctx context.Context) {
			found, err := from.GetEntity(ctx, "p", "row", nil)
			if err != nil {
				return
			}
			var n int
			_, _ = fmt.Sscanf(textOf(found.Value, `"N":"`), "%d", &n)
			_, _ = from.UpdateEntity(ctx, row("copy", n), nil)
		}}, {Client: b, Run: func(ctx context.Context) {
			_, _ = both.SubmitTransaction(ctx, []aztables.TransactionAction{
				{ActionType: aztables.TransactionTypeUpdateReplace, Entity: row("row", 1)},
				{ActionType: aztables.TransactionTypeUpdateReplace, Entity: row("copy", 1)},
			}, nil)
		}}}
		sys.Finish = func(ctx context.Context) error {
			rows, err := w.Rows(ctx)
			if err == nil && rows[0].Text("N") != rows[1].Text("N") {
				err = errLost
			}
			return err
		}
		return sys, nil
	}})
	assert.WantError(t, r.Violation, errLost)
}

// writing is a case of processes that each write a few rows: different ones, or all the same.
func writing(same bool) *search.Case {
	return &search.Case{Switches: -1, Start: func(_ context.Context, w *search.World) (*search.System, error) {
		sys := &search.System{}
		for _, name := range []string{"A", "B", "C"} {
			c := w.Client(name)
			table := c.Tables(0).NewClient(search.TableName)
			sys.Processes = append(sys.Processes, search.Process{Client: c, Run: func(ctx context.Context) {
				for n := range 2 {
					key := fmt.Sprint(name, n)
					if same {
						key = "all"
					}
					_, _ = table.UpsertEntity(ctx, []byte(fmt.Sprintf(`{"PartitionKey":"p","RowKey":%q,"By":%q}`, key, name)), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
				}
			}})
		}
		return sys, nil
	}}
}

func TestOrdersOfIndependentRequestsAreNotDistinguished(t *testing.T) {
	t.Setenv(storagetest.ProductionVariable, "") // every run begins with the same clocks
	r := search.Run(t, writing(false))
	assert.Equal(t, r.States, 3*3*3, "states of three processes that write two rows each")
	assert.Equal(t, r.Ends, 1)
	if orders := 90; r.Runs >= orders/4 {
		t.Errorf("%d runs for %d orders", r.Runs, orders)
	}
	r = search.Run(t, writing(true))
	assert.Equal(t, r.Ends, 3, "ends with writes of one row")
}

// Each fault is possible at each request of a process.
func TestEveryFaultIsPossible(t *testing.T) {
	t.Setenv(storagetest.ProductionVariable, "") // every run begins with the same clocks
	explore := func(change func(*search.Case)) *search.Report {
		c := writing(false)
		change(c)
		r := search.Run(t, c)
		assert.NoError(t, r.Violation)
		return r
	}
	none := explore(func(*search.Case) {})
	crash := explore(func(c *search.Case) { c.Crashes = 1 })
	assert.Equal(t, crash.Ends, none.Ends+3, "ends if each of 3 processes may crash after its first write")
	late := explore(func(c *search.Case) { c.Late = 1 })
	assert.Equal(t, late.Ends, none.Ends, "ends if a write may arrive late, which changes nothing in the end")
	pause := explore(func(c *search.Case) { c.Pause = time.Hour })
	if late.States <= none.States || pause.States <= none.States {
		t.Errorf("%v, with a late request %v, with a pause %v", none, late, pause)
	}
}
