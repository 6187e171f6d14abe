package tablectl

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/journal"
)

// JournalOf returns the journal of a Store, for the commands journal and sweep. open declares both as the service does, and makes
// no request.
func JournalOf[T any](name string, open func(*Account) (*journal.Changes[T], error)) Store {
	return Store{name, func(a *Account) (opened, error) {
		c, err := open(a)
		return opened{Sweeper: c, changes: func(ctx context.Context, key keys.Key, asOf time.Time, limit int) iter.Seq2[change, error] {
			return changesOf(ctx, c, key, asOf, limit)
		}}, err
	}}
}

// change is a change of an entity, with its rows as export writes them.
type change struct {
	Version journal.Version `json:"version"`
	Event   string          `json:"event"`
	At      time.Time       `json:"at"`
	Changed []string        `json:"changed,omitempty"`
	Before  json.RawMessage `json:"before,omitempty"`
	After   json.RawMessage `json:"after,omitempty"`
}

// changesOf returns the changes of an entity, the newest first, or, if asOf is not zero, the one that was the last at that time.
func changesOf[T any](ctx context.Context, c *journal.Changes[T], key keys.Key, asOf time.Time, limit int) iter.Seq2[change, error] {
	recorded := c.History(ctx, key, &patterns.QueryOptions{Limit: limit})
	if !asOf.IsZero() {
		recorded = func(yield func(journal.Change[T], error) bool) { yield(c.AsOf(ctx, key, asOf)) }
	}
	return func(yield func(change, error) bool) {
		for r, err := range recorded {
			before, err1 := recordedRow(key, r.Before, nil)
			after, err2 := recordedRow(key, r.After, r.Changed)
			if !yield(change{r.Version, r.Event.String(), r.At, r.Changed, before, after}, cmp.Or(err, err1, err2)) {
				return
			}
		}
	}
}

// recordedRow returns the row of an entity, with all properties if names is nil. The others were not recorded.
func recordedRow[T any](key keys.Key, entity *T, names []string) (json.RawMessage, error) {
	if entity == nil {
		return nil, nil
	}
	text, err := patterns.EncodeJSON(patterns.Item[T]{Key: key, Value: *entity})
	if err != nil || names == nil {
		return text, err
	}
	item, err := patterns.DecodeJSON[stored](text)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(item.Value.Properties, func(name string, _ any) bool { return !slices.Contains(names, name) })
	return patterns.EncodeJSON(item)
}

func journalCommand(c *cli) action {
	limit := c.flags.Int("top", 0, "the largest `number` of changes (default all)")
	var asOf time.Time
	c.flags.Func("as-of", "only the last change until this `time`, such as 2026-01-31T12:00:00Z: what the entity was then", func(text string) (err error) {
		asOf, err = time.Parse(time.RFC3339, text)
		return err
	})
	return func(ctx context.Context, args []string) error {
		key := keys.Key{Partition: args[1], Row: args[2]}
		s, err := c.openStore(args[0])
		switch {
		case err != nil:
			return err
		case s.changes == nil:
			return usagef("%s has no journal", args[0])
		case *limit < 0 || *limit > 0 && !asOf.IsZero():
			return usagef("-top is a positive number, and has no meaning with -as-of")
		case key.Validate() != nil:
			return usagef("%w", key.Validate())
		}
		n := 0
		for x, err := range s.changes(ctx, key, asOf, *limit) {
			if err != nil {
				return err
			}
			text := fmt.Sprintf("%s  %s %s", x.Version, x.Event, x.At.Format(time.RFC3339Nano))
			if x.Before != nil {
				text += "\n< " + string(x.Before)
			}
			if x.After != nil {
				text += "\n> " + string(x.After)
			}
			if err := c.print(x, text); err != nil {
				return err
			}
			n++
		}
		return c.summary(false, "", figure{n, "changes"})
	}
}
