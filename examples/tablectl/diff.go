package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// change is a property that differs between two versions of a row.
type change struct {
	name     string
	from, to any // nil if the property does not exist
}

// changes returns the properties that differ, in the order of their names.
func changes(from, to properties) []change {
	var all []change
	for name, v := range from {
		if !equal(v, to[name]) {
			all = append(all, change{name, v, to[name]})
		}
	}
	for name, v := range to {
		if _, ok := from[name]; !ok {
			all = append(all, change{name, nil, v})
		}
	}
	slices.SortFunc(all, func(a, b change) int { return strings.Compare(a.name, b.name) })
	return all
}

// differences counts rows.
type differences struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
	Equal   int `json:"equal"`
}

func diffCommand(c *cli) action {
	var first, second accountFlags
	var where filterFlags
	first.register(c, "", "")
	second.register(c, "to-", " of the second argument, if it is another one")
	where.register(c.flags)
	quiet := c.flags.Bool("quiet", false, "print only the numbers")
	return func(ctx context.Context, args []string) error {
		from, to, err := twoArguments(args)
		if err != nil {
			return err
		}
		f, err := where.filter()
		if err != nil {
			return err
		}
		var a, b *account
		if !isFile(from) || !isFile(to) {
			if a, b, err = c.openTwo(ctx, first, second); err != nil {
				return err
			}
		}
		print := func(r *row, sign string, changed []change) error { return c.printDifference(sign, r, changed) }
		if *quiet {
			print = func(*row, string, []change) error { return nil }
		}
		d, err := compare(ordered(ctx, a, from, f), ordered(ctx, b, to, f), c.progress("rows", 0), print)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%d added, %d removed, %d changed, %d equal", d.Added, d.Removed, d.Changed, d.Equal)
		if err := c.print(d, text); err != nil {
			return err
		}
		if d.Added+d.Removed+d.Changed > 0 {
			return errFound
		}
		return nil
	}
}

// isFile reports whether an argument is the name of a file: the name of a table has only letters and
// digits.
func isFile(name string) bool {
	return strings.ContainsFunc(name, func(c rune) bool { return !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9') })
}

// ordered returns the rows of a table or a file in the order of their keys.
func ordered(ctx context.Context, a *account, name string, f query.Filter) iter.Seq2[row, error] {
	if isFile(name) {
		return matching(sortedFile(name), f)
	}
	return func(yield func(row, error) bool) {
		t, err := openTable(a.tables.NewClient(name))
		if err != nil {
			yield(row{}, err)
			return
		}
		for item, err := range t.Query(ctx, f, &patterns.QueryOptions{Allow: query.TableScan, Ordered: true}) {
			if !yield(rowOf(&item), err) {
				return
			}
		}
	}
}

func matching(rows iter.Seq2[row, error], f query.Filter) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		for r, err := range rows {
			if (err != nil || f.Match(&r)) && !yield(r, err) {
				return
			}
		}
	}
}

// compare reads two ordered sequences side by side, and prints each difference.
func compare(from, to iter.Seq2[row, error], p *progress, print func(r *row, sign string, changed []change) error) (d differences, err error) {
	defer p.end()
	left, right := newOrderedRows(from), newOrderedRows(to)
	defer left.stop()
	defer right.stop()
	for err = errors.Join(left.advance(), right.advance()); err == nil && (!left.ended || !right.ended); {
		p.update(d.Added+d.Removed+d.Changed+d.Equal, int64(d.Added+d.Removed+d.Changed+d.Equal), 0)
		order := compareKeys(left.row.key, right.row.key)
		switch {
		case right.ended || !left.ended && order < 0:
			d.Removed++
			err = errors.Join(print(&left.row, "-", nil), left.advance())
		case left.ended || order > 0:
			d.Added++
			err = errors.Join(print(&right.row, "+", nil), right.advance())
		default:
			if changed := changes(left.row.properties, right.row.properties); len(changed) > 0 {
				d.Changed++
				err = print(&left.row, "~", changed)
			} else {
				d.Equal++
			}
			err = errors.Join(err, left.advance(), right.advance())
		}
	}
	return d, err
}

// orderedRows pulls rows and checks their order.
type orderedRows struct {
	row   row
	ended bool
	first bool
	next  func() (row, error, bool)
	stop  func()
}

func newOrderedRows(rows iter.Seq2[row, error]) *orderedRows {
	next, stop := iter.Pull2(rows)
	return &orderedRows{first: true, next: next, stop: stop}
}

func (o *orderedRows) advance() error {
	r, err, ok := o.next()
	if err != nil {
		return err
	}
	if o.ended = !ok; o.ended {
		return nil
	}
	if !o.first && compareKeys(o.row.key, r.key) >= 0 {
		return errors.New("two rows have the same key, or the service does not return rows in the order of their keys")
	}
	o.row, o.first = r, false
	return nil
}

// printDifference prints a row that was added or removed, with its properties, or one that was changed.
func (c *cli) printDifference(sign string, r *row, changed []change) error {
	if c.json {
		return printJSON(c.out, differenceOf(sign, r, changed))
	}
	text := []byte(sign + " ")
	if sign != "~" {
		text = appendRow(text, r)
	} else {
		text = append(text, keyText(r.key)...)
		for _, ch := range changed {
			text = append(append(text, "\n    "...), propertyText(ch.name, ch.from)...)
			text = append(append(text, " -> "...), propertyText(ch.name, ch.to)...)
		}
	}
	_, err := c.out.Write(append(text, '\n'))
	return err
}

func propertyText(name string, value any) string {
	if value == nil {
		return "none"
	}
	return string(appendProperty(nil, name, value))
}

// difference is one in JSON. From and To are rows in the format of the files.
type difference struct {
	Change   string  `json:"change"`
	From, To jsonRow `json:",omitzero"`
}

// jsonRow is a row in the format of the files.
type jsonRow struct{ row *row }

func (r jsonRow) MarshalJSON() ([]byte, error) { return appendRow(nil, r.row), nil }

func differenceOf(sign string, r *row, changed []change) difference {
	switch sign {
	case "+":
		return difference{Change: "added", To: jsonRow{r}}
	case "-":
		return difference{Change: "removed", From: jsonRow{r}}
	}
	from, to := row{r.key, properties{}}, row{r.key, properties{}}
	for _, ch := range changed {
		maps.Copy(from.properties, present(ch.name, ch.from))
		maps.Copy(to.properties, present(ch.name, ch.to))
	}
	return difference{"changed", jsonRow{&from}, jsonRow{&to}}
}

func present(name string, value any) properties {
	if value == nil {
		return nil
	}
	return properties{name: value}
}
