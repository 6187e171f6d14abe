package tablectl

import (
	"context"
	"strings"

	"github.com/azpatterns/azpatterns/internal/fetch"
)

// tablesPast is the text after the number of tables in the summary of each command.
var tablesPast = map[string]string{"list": "tables", "create": "created", "drop": "dropped"}

func tablesCommand(c *cli) action {
	yes := c.flags.Bool("yes", false, "drop the tables, with all their rows")
	return func(ctx context.Context, args []string) error {
		do, names := args[0], args[1:]
		switch {
		case tablesPast[do] == "":
			return usagef("no command tables %q: it is list, create or drop", do)
		case (do == "list") != (len(names) == 0):
			return usagef("tables list has no names of tables, create and drop have at least one")
		case do == "drop" && !*yes:
			return usagef("tables drop deletes the tables with all their rows: add -yes")
		}
		if do == "list" {
			var err error
			if names, err = listTables(ctx, c.from); err != nil {
				return err
			}
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
		return c.summary(false, "", figure{len(names), tablesPast[do]})
	}
}

// sameTable reports whether two names are those of one table: they do not depend on case.
func sameTable(a, b string) bool { return strings.EqualFold(a, b) }

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
