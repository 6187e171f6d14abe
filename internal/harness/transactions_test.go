package harness_test

import (
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
)

// The results that each case adds are those of transactions that overlap.
func TestTransactionsHaveAnOrderOnlyIfTheyAreIsolated(t *testing.T) {
	put := func(key, value string) harness.Change {
		return harness.Change{Key: key, Kind: harness.PutRow, Value: value}
	}
	remove := func(key string) harness.Change { return harness.Change{Key: key, Kind: harness.DeleteRow} }
	read := func(key, value string) harness.Change {
		return harness.Change{Key: key, Kind: harness.Read, Value: value}
	}
	ok, missing := harness.TransactionResult{Outcome: harness.Applied}, harness.TransactionResult{Outcome: harness.Missing, Failed: 1}
	unknown := harness.TransactionResult{Outcome: harness.Unknown}
	for name, c := range map[string]struct {
		first, second harness.TransactionResult
		a, b          string // afterwards
		isolated      bool
	}{
		"both applied":                  {ok, ok, "1", "2", false},
		"both refused":                  {missing, missing, "", "", true},
		"the first one refused":         {missing, ok, "", "2", false}, // a does not exist when b is put
		"unknown, and nothing happened": {unknown, unknown, "", "", true},
		"unknown, and half happened":    {unknown, unknown, "1", "", false},
	} {
		var h harness.Transactions
		began := time.Now()
		h.Add(began, []harness.Change{put("a", "1"), remove("b")}, c.first, 0)
		h.Add(began, []harness.Change{put("b", "2"), remove("a")}, c.second, 0)
		after := time.Now().Add(time.Millisecond)
		time.Sleep(time.Until(after))
		h.Add(after, []harness.Change{read("a", c.a), read("b", c.b)}, ok, 0)
		if err := h.Check(); (err == nil) != c.isolated {
			t.Errorf("%s: %v", name, err)
		}
	}
}
