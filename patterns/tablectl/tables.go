package tablectl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/patterns"
)

// tablesPast is the text after the number of tables in the summary of each command.
var tablesPast = map[string]string{"list": "tables", "create": "created", "drop": "dropped"}

func tablesCommand(c *cli) action {
	yes := c.flags.Bool("yes", false, "drop the tables, with all their rows")
	return func(ctx context.Context, args []string) error {
		do, names := args[0], distinctTables(args[1:])
		switch {
		case tablesPast[do] == "":
			return usagef("no command tables %q: it is list, create or drop", do)
		case (do == "list") != (len(names) == 0):
			return usagef("tables list has no names of tables, create and drop have at least one")
		case do == "drop" && !*yes:
			return usagef("tables drop deletes the tables with all their rows: add -yes")
		}
		// Create and Drop do not report whether the table existed.
		existing, err := listTables(ctx, c.from)
		if err != nil {
			return err
		}
		missing := func(name string) bool {
			return !slices.ContainsFunc(existing, func(e string) bool { return sameTable(e, name) })
		}
		var present []figure
		switch do {
		case "list":
			names = existing
		case "drop":
			if i := slices.IndexFunc(names, missing); i >= 0 {
				return fmt.Errorf("nothing was dropped: %w", inTable(names[i], patterns.ErrTableNotFound))
			}
		case "create":
			all := len(names)
			names = slices.DeleteFunc(names, func(name string) bool { return !missing(name) })
			present = []figure{{all - len(names), "present"}}
		}
		for _, name := range names {
			var err error
			switch do {
			case "create":
				err = c.from.rows(name).Create(ctx)
			case "drop":
				err = c.from.rows(name).Drop(ctx)
			}
			if err == nil {
				err = c.print(map[string]string{"table": name}, name)
			}
			if err != nil {
				return inTable(name, err)
			}
		}
		return c.summary(false, "", append([]figure{{len(names), tablesPast[do]}}, present...)...)
	}
}

// sameTable reports whether two names are those of one table: they do not depend on case.
func sameTable(a, b string) bool { return strings.EqualFold(a, b) }

// distinctTables returns names without those of a table that precedes.
func distinctTables(names []string) (distinct []string) {
	for _, name := range names {
		if !slices.ContainsFunc(distinct, func(before string) bool { return sameTable(before, name) }) {
			distinct = append(distinct, name)
		}
	}
	return distinct
}

// listTables returns the names of the tables of an account.
func listTables(ctx context.Context, a *Account) (names []string, err error) {
	for name, err := range fetch.Tables(ctx, a.account.Tables, "") {
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}
