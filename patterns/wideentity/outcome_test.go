package wideentity_test

import (
	"errors"
	"testing"

	"github.com/azpatterns/azpatterns/internal/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// Each write's transaction is carried out once and its reply lost; the SDK repeats
// it, and meets what the first try did.
func TestALostReplyIsNoFailure(t *testing.T) {
	type table = *wideentity.Table[properties]
	small, other := properties{"A": "a", "B": int32(1)}, properties{"A": "aa", "C": int32(2)}
	big := large("x")
	for name, c := range map[string]struct {
		before, after properties
		batches       int // whose reply is lost in turn
		run           func(t *testing.T, table table) error
	}{
		"insert": {nil, small, 1, func(t *testing.T, table table) error {
			item, err := table.Insert(t.Context(), year, &small)
			if err == nil {
				_, err = table.Replace(t.Context(), item) // the ETag is right
			}
			return err
		}},
		"put": {small, other, 1, func(t *testing.T, table table) error {
			_, err := table.Put(t.Context(), year, &other)
			return err
		}},
		"put, staged": {small, big, 3, func(t *testing.T, table table) error {
			_, err := table.Put(t.Context(), year, &big)
			return err
		}},
		"set": {small, properties{"A": "aa", "B": int32(1)}, 1, func(t *testing.T, table table) error {
			return table.Set(t.Context(), year, &properties{"A": "aa"}, "A")
		}},
		"update": {small, properties{"A": "a", "B": int32(2)}, 1, func(t *testing.T, table table) error {
			_, err := table.Update(t.Context(), year, func(b *properties) error {
				(*b)["B"] = (*b)["B"].(int32) + 1
				return nil
			})
			return err
		}},
		"delete": {small, nil, 1, func(t *testing.T, table table) error {
			return table.Delete(t.Context(), year, "")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
				for n := range c.batches {
					table := open[properties](t, b.Table(t), nil)
					wideentity.SetBatchBytes(table, smallBatch)
					if c.before != nil {
						must[wideentity.Item[properties]](t)(table.Insert(t.Context(), year, &c.before))
					}
					b.ClearFaults()
					b.Fault(fault.On("Table.Batch").Nth(n + 1).LoseReply())
					if err := c.run(t, table); err != nil {
						t.Fatalf("reply %d lost: %v", n+1, err)
					}
					b.ClearFaults()
					item, err := table.Get(t.Context(), year)
					if c.after == nil {
						if !errors.Is(err, patterns.ErrNotFound) {
							t.Errorf("reply %d lost: %v", n+1, err)
						}
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					wantProperties(t, item.Value, c.after)
				}
			})
		})
	}
}

func TestAnOutcomeThatNothingTellsIsUnknown(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := open[properties](t, b.Table(t), nil)
		v := properties{"A": "a"}
		item := must[wideentity.Item[properties]](t)(table.Insert(t.Context(), year, &v))
		b.Fault(fault.On("Table.Batch").LoseReply(), fault.On("Table.Get").LoseRequest())
		item.Value = properties{"A": "b"}
		if _, err := table.Replace(t.Context(), item); !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.Is(err, patterns.ErrConflict) {
			t.Errorf("the head cannot be read: %v", err)
		}
		b.ClearFaults()
		item = must[wideentity.Item[properties]](t)(table.Get(t.Context(), year))
		b.Fault(fault.On("Table.Batch").LoseReply())
		if err := table.Delete(t.Context(), year, item.ETag); !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("somebody has deleted it: %v", err)
		}
	})
}

// An answered try that changed nothing never will. One without an answer may still be on
// its way.
func TestOnlyAnAnswerRulesAWriteOut(t *testing.T) {
	for what, c := range map[string]struct {
		rule    fault.Rule
		unknown bool
	}{
		"refused":   {fault.On("Table.Batch").Status(503, "ServerBusy"), false},
		"failed":    {fault.On("Table.Batch").Status(500, "InternalError"), false},
		"no answer": {fault.On("Table.Batch").LoseRequest(), true},
	} {
		t.Run(what, func(t *testing.T) {
			testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
				table := open[properties](t, b.Table(t), nil)
				v := properties{"A": "a"}
				item := must[wideentity.Item[properties]](t)(table.Insert(t.Context(), year, &v))
				b.Fault(c.rule)
				item.Value = properties{"A": "b"}
				if _, err := table.Replace(t.Context(), item); err == nil || errors.Is(err, patterns.ErrOutcomeUnknown) != c.unknown {
					t.Errorf("replace: %v", err)
				}
				if err := table.Delete(t.Context(), year, item.ETag); err == nil || errors.Is(err, patterns.ErrOutcomeUnknown) != c.unknown {
					t.Errorf("delete: %v", err)
				}
				b.ClearFaults()
				if _, err := table.Replace(t.Context(), item); err != nil {
					t.Errorf("again: %v", err)
				}
			})
		})
	}
}

func TestPagesOfAnySizeGiveTheEntity(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := open[properties](t, b.Table(t), nil)
		v := days(500)
		must[wideentity.Item[properties]](t)(table.Insert(t.Context(), year, &v))
		for _, rule := range []fault.Rule{
			fault.On("Table.Query").ShortPage(1), fault.On("Table.Query").ShortPage(5), fault.On("Table.Query").EmptyPage(),
		} {
			b.ClearFaults()
			b.Fault(rule)
			wantProperties(t, must[wideentity.Item[properties]](t)(table.Get(t.Context(), year)).Value, v)
			part := must[wideentity.Item[properties]](t)(table.Read(t.Context(), year, dayName(1), dayName(2), dayName(3)))
			wantProperties(t, part.Value, only(v, []string{dayName(1), dayName(2), dayName(3)}))
		}
	})
}

// A row that somebody else took away is an error, not a hole, and writing the entity
// again mends it.
func TestAMissingRowIsTorn(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		client := b.Table(t)
		table := open[properties](t, client, &wideentity.Options{Parts: 3, Tries: 2})
		v := days(50)
		must[wideentity.Item[properties]](t)(table.Insert(t.Context(), year, &v))
		if _, err := client.DeleteEntity(t.Context(), year.Partition, year.Row+"_02", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := table.Get(t.Context(), year); !errors.Is(err, wideentity.ErrTorn) {
			t.Errorf("get: %v", err)
		}
		names := []string{dayName(1), dayName(2), dayName(3), dayName(4), dayName(5)}
		if _, err := table.Read(t.Context(), year, names...); !errors.Is(err, wideentity.ErrTorn) {
			t.Errorf("read: %v", err)
		}
		if err := table.Set(t.Context(), year, &v, names...); !errors.Is(err, wideentity.ErrTorn) {
			t.Errorf("set: %v", err)
		}
		few := properties{"X": int32(1)} // leaves out the missing row
		must[wideentity.Item[properties]](t)(table.Put(t.Context(), year, &few))
		wantProperties(t, must[wideentity.Item[properties]](t)(table.Get(t.Context(), year)).Value, few)
	})
}
