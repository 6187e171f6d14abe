package main

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

func diffCommand(c *cli) action {
	first, second := c.account("", ""), c.account("to-", " of the second argument, if it is another one")
	where := c.filter()
	quiet := c.flags.Bool("quiet", false, "print only the numbers")
	return func(ctx context.Context, args []string) error {
		f, err := where.filter()
		if err != nil {
			return err
		}
		var a, b *account
		if !isFile(args[0]) || !isFile(args[1]) {
			if a, b, err = c.openTwo(ctx, first, second); err != nil {
				return err
			}
		}
		p := c.progress("rows", 0)
		defer p.end()
		var added, removed, changed, same int
		for pair, err := range join(ordered(ctx, a, args[0], f), ordered(ctx, b, args[1], f)) {
			if err != nil {
				return err
			}
			from, to := pair[0], pair[1]
			switch {
			case from == nil:
				added++
			case to == nil:
				removed++
			default:
				from, to = &row{from.key, different(from.properties, to.properties)}, &row{to.key, different(to.properties, from.properties)}
				if len(from.properties)+len(to.properties) == 0 {
					same++
					p.update(int64(added+removed+changed+same), 0)
					continue
				}
				changed++
			}
			if *quiet {
				continue
			}
			p.end()
			if err := c.printDifference(from, to); err != nil {
				return err
			}
		}
		p.end()
		return c.summary(added+removed+changed > 0, "", figure{added, "added"}, figure{removed, "removed"}, figure{changed, "changed"}, figure{same, "equal"})
	}
}

// isFile reports whether an argument is the name of a file: the name of a table has only letters and
// digits.
func isFile(name string) bool {
	return strings.ContainsFunc(name, func(c rune) bool { return !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9') })
}

// ordered returns the rows of a table or a file in the order of their keys.
func ordered(ctx context.Context, a *account, name string, f query.Filter) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		if isFile(name) {
			for r, err := range sortedFile(name) {
				if (err != nil || f.Match(&r)) && !yield(r, err) {
					return
				}
			}
			return
		}
		t, err := openTable(a.tables.NewClient(name))
		if err != nil {
			yield(row{}, err)
			return
		}
		for item, err := range t.Query(ctx, f, &patterns.QueryOptions{Allow: query.TableScan, Ordered: true}) {
			if !yield(row{item.Key, item.Value.Properties}, err) {
				return
			}
		}
	}
}

// join reads two sequences of rows in the order of their keys side by side. It yields each key once,
// with the rows of both, or nil for one that does not have it.
func join(a, b iter.Seq2[row, error]) iter.Seq2[[2]*row, error] {
	return func(yield func([2]*row, error) bool) {
		nextA, stopA := iter.Pull2(a)
		defer stopA()
		nextB, stopB := iter.Pull2(b)
		defer stopB()
		left, err1 := advance(nil, nextA)
		right, err2 := advance(nil, nextB)
		for err := errors.Join(err1, err2); left != nil || right != nil || err != nil; {
			if err != nil {
				yield([2]*row{}, err)
				return
			}
			pair := [2]*row{left, right}
			if left != nil && right != nil {
				switch order := compareKeys(left.key, right.key); {
				case order < 0:
					pair[1] = nil
				case order > 0:
					pair[0] = nil
				}
			}
			if !yield(pair, nil) {
				return
			}
			if pair[0] != nil {
				left, err = advance(left, nextA)
			}
			if pair[1] != nil && err == nil {
				right, err = advance(right, nextB)
			}
		}
	}
}

// advance returns the row after the last one, nil at the end, and checks the order.
func advance(last *row, next func() (row, error, bool)) (*row, error) {
	r, err, ok := next()
	if err != nil || !ok {
		return nil, err
	}
	if last != nil && compareKeys(last.key, r.key) >= 0 {
		return nil, errors.New("two rows have the same key, or the service does not return rows in the order of their keys")
	}
	return &r, nil
}

// jsonRow is a row in the format of the files.
type jsonRow row

func (r *jsonRow) MarshalJSON() ([]byte, error) { return appendRow(nil, (*row)(r)), nil }

// printDifference prints a row that was added or removed, or the properties of a row that differ.
func (c *cli) printDifference(from, to *row) error {
	if c.json {
		return printJSON(c.out, struct {
			From *jsonRow `json:"from,omitempty"`
			To   *jsonRow `json:"to,omitempty"`
		}{(*jsonRow)(from), (*jsonRow)(to)})
	}
	signs := "-+"
	if from != nil && to != nil {
		signs = "<>"
	}
	var text []byte
	for i, r := range []*row{from, to} {
		if r != nil {
			text = append(appendRow(append(text, signs[i], ' '), r), '\n')
		}
	}
	_, err := c.out.Write(text)
	return err
}
