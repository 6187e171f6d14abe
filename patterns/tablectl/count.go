package tablectl

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

func countCommand(c *cli) action {
	c.filterFlags()
	parallel := c.flags.Int("parallel", 8, "the largest `number` of concurrent requests")
	return func(ctx context.Context, args []string) error {
		t := c.from.rows(args[0])
		p := c.progress("rows", 0)
		var n patterns.Progress
		// Only the keys are read.
		for page, err := range t.Scan(ctx, c.filter, "", &patterns.QueryOptions{Select: []string{}, Parallel: *parallel}) {
			if err != nil {
				return inTable(args[0], err)
			}
			n = page.Progress
			p.update(int64(n.Found), 0)
		}
		return c.summary(false, "", figure{n.Found, "rows"}, figure{n.Requests, "requests"})
	}
}

func explainCommand(c *cli) action {
	return func(_ context.Context, args []string) error {
		f, err := query.Parse(args[0])
		if err != nil {
			return usagef("%w", err)
		}
		plan := query.Explain(f)
		var reads []map[string]string
		for _, r := range plan.Reads() {
			reads = append(reads, map[string]string{"class": r.Class.String(), "filter": r.Filter.String()})
		}
		return c.print(map[string]any{
			"class": plan.Class.String(), "plain": plan.Plain.String(), "requests": plan.Requests, "reads": reads, "warnings": plan.Warnings,
		}, fmt.Sprintf("%+v", plan))
	}
}
