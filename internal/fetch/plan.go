package fetch

import (
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

const (
	defaultParallel = 8
	maxParallel     = 1 << 12 // more never helps
)

// maxPage is the largest number of rows that the service returns in one reply.
//
// https://learn.microsoft.com/rest/api/storageservices/query-timeout-and-pagination
const maxPage = 1000

func check(o *types.QueryOptions) error {
	switch {
	case o.Limit < 0:
		return azerr.Errorf("%w: negative Limit", azerr.ErrBadOption)
	case o.PageSize < 0:
		return azerr.Errorf("%w: negative PageSize", azerr.ErrBadOption)
	case o.Parallel < 0:
		return azerr.Errorf("%w: negative Parallel", azerr.ErrBadOption)
	case o.PageSize > maxPage:
		return fmt.Errorf("PageSize: %w: more than %d rows", azerr.ErrTooLarge, maxPage)
	}
	return nil
}

// ReadPlan is a filter that is ready to run: checked, and divided into reads. It is
// immutable, and safe for concurrent use.
type ReadPlan struct {
	source     *Source
	filter     query.Filter
	explained  query.Plan
	reads      []query.Read
	selected   []string // nil: whole rows
	requested  []string // the same, and what the Restriction needs
	selectText string   // of requested
	partition  *string  // the partition key of all rows if it is not requested
	limit      int
	size       int // of pages, as requested by the caller
	parallel   int
	maxExtra   int // in a hundred requests of Run, the other requests of a scan; 0: the usual limit
	ordered    bool
	sequential bool // a scan requests a page when the caller is done with the one before
}

// Plan prepares the reads of the rows that f matches. It makes no request. It refuses a
// name or type that the rows do not have, a class of query that opts does not allow
// ([query.ErrScan]), and options that are out of range.
func (s *Source) Plan(f query.Filter, opts *types.QueryOptions) (*ReadPlan, error) {
	var o types.QueryOptions
	if opts != nil {
		o = *opts
	}
	if err := check(&o); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	if s.view != nil {
		f = query.And(f, s.view.Filter)
	}
	p := &ReadPlan{source: s, filter: f, limit: o.Limit, size: o.PageSize, parallel: o.Parallel, ordered: o.Ordered}
	if p.parallel <= 0 {
		p.parallel = defaultParallel
	}
	p.parallel = min(p.parallel, maxParallel)
	err := f.Err()
	if err == nil && s.schema != nil {
		err = f.Check(s.schema)
	}
	if err != nil {
		return nil, err
	}
	if p.selected, err = s.selection(o.Select); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	p.requested = s.request(p.selected)
	p.explained = query.ExplainWith(f, &query.ExplainOptions{Schema: s.schema})
	if err := p.explained.Check(o.Allow); err != nil {
		return nil, err
	}
	p.reads = p.explained.Reads()
	system := s.system
	if p.partition = s.partition(p.reads); p.partition != nil {
		system = system[1:]
	}
	p.selectText = selectText(system, p.requested)
	for i := range p.reads {
		if n := p.reads[i].Filter.Comparisons(); n > query.MaxComparisons {
			return nil, fmt.Errorf("query: %w: %d comparisons in one filter, the service takes %d", azerr.ErrTooLarge, n, query.MaxComparisons)
		}
	}
	return p, nil
}

// PlanScan is Plan for [ReadPlan.Scan] and [ReadPlan.Divide]: every class is allowed unless opts restrict it. It
// refuses a limit, because the position in each segment is the end of a page, and an order.
func (s *Source) PlanScan(f query.Filter, opts *types.QueryOptions) (*ReadPlan, error) {
	var o types.QueryOptions
	if opts != nil {
		o = *opts
	}
	switch {
	case o.Limit != 0:
		return nil, azerr.Errorf("scan: %w: Limit has no meaning for a scan", azerr.ErrBadOption)
	case o.Ordered:
		return nil, fmt.Errorf("scan: %w", azerr.ErrUnordered)
	case o.Allow == 0:
		o.Allow = query.TableScan
	}
	return s.Plan(f, &o)
}

// Explain returns the query plan that p runs by.
func (p *ReadPlan) Explain() query.Plan { return p.explained }

// Cost returns the class of the most expensive read of p, and the number of reads.
func (p *ReadPlan) Cost() (query.Class, int) { return p.explained.Class, p.explained.Requests }

// drop removes the rows that are not in the Restriction of p's Source.
func (p *ReadPlan) drop(rows Rows) {
	if v := p.source.view; v != nil {
		v.Drop(rows, p.selected)
	}
}

// pageSize is the number of rows that one request returns at most.
func (p *ReadPlan) pageSize() int {
	if p.size == 0 {
		return maxPage
	}
	return p.size
}

// checkTable compares the table that requests turned out to address with what the plan
// needs, and with the cursor that the read resumes from. It is called before the first
// request, when the address may be unknown and nothing can be compared, and again for
// every reply before its rows are used.
func (p *ReadPlan) checkTable(resumed pages.Cursor) error {
	a, known := p.source.client.Address()
	switch {
	case !known:
		return nil
	case p.ordered && a.Cosmos():
		return fmt.Errorf("query: %w", azerr.ErrUnordered)
	case !resumed.Of(a.Base):
		return fmt.Errorf("query: %w", azerr.ErrBadCursor)
	}
	return nil
}
