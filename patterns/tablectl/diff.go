package tablectl

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

func diffCommand(c *cli) action {
	c.accountFlags("to-", "the account of the second argument, if it is another one")
	c.filterFlags()
	quiet := c.flags.Bool("quiet", false, "print only the numbers")
	return func(ctx context.Context, args []string) error {
		p := c.progress("rows", 0)
		var added, removed, changed, same int
		for pair, err := range join(c.ordered(ctx, c.from, args[0]), c.ordered(ctx, c.to, args[1])) {
			if err != nil {
				return err
			}
			from, to := pair[0], pair[1]
			equal := from != nil && to != nil && (bytes.Equal(from.text, to.text) || sameContent(from.Item, to.Item))
			switch {
			case from == nil:
				added++
			case to == nil:
				removed++
			case equal:
				same++
				p.update(int64(added+removed+changed+same), 0)
				continue
			default:
				changed++
			}
			if *quiet {
				continue
			}
			if err := c.printDifference(from, to); err != nil {
				return err
			}
		}
		return c.summary(added+removed+changed > 0, "", figure{added, "added"}, figure{removed, "removed"}, figure{changed, "changed"}, figure{same, "equal"})
	}
}

// isFile reports whether an argument is the name of a file: the name of a table has only letters and
// digits.
func isFile(name string) bool {
	return strings.ContainsFunc(name, func(c rune) bool { return !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9') })
}

// ordered returns the rows of a table or a file in the order of their keys.
func (c *cli) ordered(ctx context.Context, a *Account, name string) iter.Seq2[row, error] {
	if !isFile(name) {
		return a.query(ctx, name, c.filter, &patterns.QueryOptions{Allow: query.TableScan, Ordered: true})
	}
	return func(yield func(row, error) bool) {
		for r, err := range sortedFile(name) {
			if (err != nil || c.filter.Match(&r)) && !yield(r, err) {
				return
			}
		}
	}
}

var errKeyTwice = errors.New("two rows have the same key, or the service does not return rows in the order of their keys")

// join reads sequences of rows in the order of their keys side by side. It yields each key once, with the
// row of each sequence, or nil for one that does not have it. The slice is valid until the next one.
func join(sequences ...iter.Seq2[row, error]) iter.Seq2[[]*row, error] {
	return func(yield func([]*row, error) bool) {
		next := make([]func() (row, error, bool), len(sequences))
		heads, same := make([]*row, len(sequences)), make([]*row, len(sequences))
		for i, s := range sequences {
			var stop func()
			next[i], stop = iter.Pull2(s)
			defer stop()
		}
		for started := false; ; started = true {
			var least *row
			for i := range heads {
				if !started || same[i] != nil {
					r, err, ok := next[i]()
					if ok && started && same[i].Key.Compare(r.Key) >= 0 {
						err = cmp.Or(err, errKeyTwice)
					}
					if err != nil {
						yield(nil, err)
						return
					}
					if heads[i] = &r; !ok {
						heads[i] = nil
					}
				}
				if heads[i] != nil && (least == nil || heads[i].Key.Compare(least.Key) < 0) {
					least = heads[i]
				}
			}
			if least == nil {
				return
			}
			for i, r := range heads {
				if same[i] = nil; r != nil && r.Key == least.Key {
					same[i] = r
				}
			}
			if !yield(same, nil) {
				return
			}
		}
	}
}

// different returns the JSON of a row with the properties that other does not have with the same type and
// value.
func different(r, other *row) ([]byte, error) {
	// The text of a value with its type is unique, also those of NaN and -0.
	text := func(v any) string { return fmt.Sprintf("%T %v", v, v) }
	item := r.Item
	item.Value.Properties = maps.Clone(item.Value.Properties)
	maps.DeleteFunc(item.Value.Properties, func(name string, v any) bool { return text(v) == text(other.Value.Properties[name]) })
	return patterns.EncodeJSON(item)
}

// printDifference prints a row that was added or removed, or the properties of a row that differ.
func (c *cli) printDifference(from, to *row) error {
	var d struct {
		From json.RawMessage `json:"from,omitempty"`
		To   json.RawMessage `json:"to,omitempty"`
	}
	switch {
	case from == nil:
		d.To = to.text
		return c.print(d, fmt.Sprintf("+ %s", to.text))
	case to == nil:
		d.From = from.text
		return c.print(d, fmt.Sprintf("- %s", from.text))
	}
	var err1, err2 error
	d.From, err1 = different(from, to)
	d.To, err2 = different(to, from)
	return errors.Join(err1, err2, c.print(d, fmt.Sprintf("< %s\n> %s", d.From, d.To)))
}

// partSize is how many bytes of a file are sorted in memory.
const partSize = 16 << 20

// sortedFile returns the rows of a file in the order of their keys, with their texts as EncodeJSON returns
// them. An export is in no order, so parts of the file are written in order to temporary files, together
// as large as the file, and merged. Of two rows with the same key, both are returned.
func sortedFile(path string) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		dir, err := os.MkdirTemp("", "tablectl")
		defer os.RemoveAll(dir)
		var parts []iter.Seq2[row, error]
		if err == nil {
			parts, err = sortParts(path, dir)
		}
		if err != nil {
			yield(row{}, err)
			return
		}
		for same, err := range join(parts...) {
			if err != nil {
				yield(row{}, err)
				return
			}
			for _, r := range same {
				if r != nil && !yield(*r, nil) {
					return
				}
			}
		}
	}
}

// sortParts writes the rows of a file to files that are in order.
func sortParts(path, dir string) (parts []iter.Seq2[row, error], err error) {
	var held []row
	size := 0
	flush := func() error {
		slices.SortFunc(held, func(a, b row) int { return a.Key.Compare(b.Key) })
		part := filepath.Join(dir, strconv.Itoa(len(parts)))
		parts = append(parts, fileRows(part))
		text := textOfRows(held)
		held, size = nil, 0
		return os.WriteFile(part, text, 0o600)
	}
	for r, err := range fileRows(path) {
		if err == nil {
			r.text, err = patterns.EncodeJSON(r.Item)
		}
		r.Value.Properties = nil
		held = append(held, r)
		if size += len(r.text); err == nil && size >= partSize {
			err = flush()
		}
		if err != nil {
			return nil, err
		}
	}
	err = flush()
	return parts, err
}
