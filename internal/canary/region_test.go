package canary_test

import (
	"errors"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// inTwoRegions returns a table whose secondary has no rows and is hostile, and whose primary is
// hostile or fails.
func inTwoRegions(e *env, down bool) *regions.Table[person] {
	send := harness.Transport(func(req *http.Request) (*http.Response, error) {
		if secondary := strings.Contains(req.URL.Host, "-secondary"); !secondary && down {
			return nil, errors.Join(&quotingError{bird})
		}
		return e.world.Do(req)
	})
	opts := &aztables.ClientOptions{}
	opts.Transport, opts.Retry.MaxRetries = send, -1
	new(regions.Pair).Attach(&opts.ClientOptions)
	service, err := aztables.NewServiceClientFromConnectionString(storagetest.Start(nil).ConnectionString(), opts)
	must(e.t, err)
	rows, err := patterns.NewTable[person](service.NewClient("people"), nil)
	must(e.t, err)
	table, err := regions.NewTable(rows)
	must(e.t, err)
	return table
}

// bothWays calls do with a primary that replies, and with one that does not.
func bothWays(e *env, do func(*regions.Table[person]) error) []any {
	return results(do(inTwoRegions(e, false)), do(inTwoRegions(e, true)))
}

var regionCalls = []call{
	{"regions.NewTable", func(*env) []any { return results(failure(regions.NewTable[person](nil))) }},
	{"regions.Table.Get", func(e *env) []any {
		return append(each(someKeys, func(k keys.Key) error { return failure(inTwoRegions(e, true).Get(e.t.Context(), k)) }),
			bothWays(e, func(t *regions.Table[person]) error { return failure(t.Get(e.t.Context(), theKey)) })...)
	}},
	{"regions.Table.Page", func(e *env) []any {
		return append(results(failure(inTwoRegions(e, false).Page(e.t.Context(), byName, cursor, nil))),
			bothWays(e, func(t *regions.Table[person]) error { return failure(t.Page(e.t.Context(), byName, "", nil)) })...)
	}},
	{"regions.Table.Pages", func(e *env) []any {
		return append(results(failures(inTwoRegions(e, false).Pages(e.t.Context(), byName, cursor, nil))),
			bothWays(e, func(t *regions.Table[person]) error { return failures(t.Pages(e.t.Context(), byName, "", nil)) })...)
	}},
	{"regions.Table.Query", func(e *env) []any {
		return append(bothWays(e, func(t *regions.Table[person]) error { return failures(t.Query(e.t.Context(), byName, nil)) }),
			bothWays(e, func(t *regions.Table[person]) error { return failures(t.Query(e.t.Context(), badQuery, nil)) })...)
	}},
	{"regions.Table.Scan", func(e *env) []any {
		return append(bothWays(e, func(t *regions.Table[person]) error { return failures(t.Scan(e.t.Context(), query.Filter{}, "", nil)) }),
			bothWays(e, func(t *regions.Table[person]) error { return failures(t.Scan(e.t.Context(), byName, cursor, nil)) })...)
	}},
}
