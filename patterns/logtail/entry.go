package logtail

import (
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Entry is an entry of a log: its row, and the time that the row's key tells.
type Entry[T any] struct {
	patterns.Item[T]

	// Time is when the entry happened, by its writer's clock or by [Options.Time]:
	// in UTC, cut to 100 ns. Item.Timestamp is when the service stored it.
	Time time.Time
}

const tickDigits = 19

// timeOf reads the time off a row key: its first 19 digits. Whatever follows only
// makes the key unique, so that rows of other writers of the pattern are read as
// well.
func timeOf(row string) (time.Time, error) {
	return keys.ParseInvertedTicks(row[:min(tickDigits, len(row))])
}

func entryOf[T any](item patterns.Item[T]) (Entry[T], error) {
	t, err := timeOf(item.Key.Row)
	if err != nil {
		return Entry[T]{}, fmt.Errorf("log: a row among the entries is none: %w", err)
	}
	return Entry[T]{Item: item, Time: t}, nil
}
