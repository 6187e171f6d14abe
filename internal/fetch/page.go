package fetch

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/query"
)

// Page reads the page at the cursor text; "" is the first page. It returns the cursor of
// the next page, "" if there is none. Rows are nil if the plan has no reads, which takes
// no request. A cursor that is damaged, or of another table or query, is an
// [azerr.ErrBadCursor].
//
// One request, except for neighbouring point reads: then one for each, at most
// [types.QueryOptions.Parallel] of them concurrently.
func (p *ReadPlan) Page(ctx context.Context, d PageDecoder, text string) (rows Rows, next string, err error) {
	from, pos, err := p.openPageCursor(text)
	if err != nil {
		return nil, "", err
	}
	size := p.pageSize()
	if p.limit > 0 {
		size = min(size, p.limit)
	}
	if pos.read >= len(p.reads) {
		return nil, "", ctx.Err()
	}
	if err := p.checkTable(from); err != nil {
		return nil, "", err
	}
	rows, pos, err = p.readNext(ctx, d, pos, size)
	if wrong := p.checkTable(from); wrong != nil {
		err = wrong // the rows are of another table
	}
	if err == nil {
		p.drop(rows)
	}
	if err == nil && pos.read < len(p.reads) {
		next, err = p.sealPageCursor(pos)
	}
	if err != nil {
		return nil, "", err
	}
	return rows, next, nil
}

// planPosition is where a plan continues: at which read, and where within it.
type planPosition struct {
	read  int
	token wire.Position
}

// readNext reads the plan's next part: one page of a range, or up to size neighbouring
// points concurrently. It returns the position after it.
func (p *ReadPlan) readNext(ctx context.Context, d PageDecoder, pos planPosition, size int) (Rows, planPosition, error) {
	if !p.reads[pos.read].Point {
		rows, token, err := p.readPage(ctx, d, p.reads[pos.read].Filter, pos.token, size)
		if token == (wire.Position{}) {
			pos.read++
		}
		return rows, planPosition{pos.read, token}, err
	}
	end := pos.read
	for end < len(p.reads) && end-pos.read < size && p.reads[end].Point {
		end++
	}
	found := make([]Rows, 0, end-pos.read)
	window := calls.Window{Start: p.parallel, Max: p.parallel}
	for rows, err := range calls.Ordered(ctx, end-pos.read, window, func(ctx context.Context, i int) (Rows, error) {
		return p.readPoint(ctx, d, pos.read+i)
	}) {
		if err != nil {
			return nil, pos, err
		}
		if rows != nil {
			found = append(found, rows)
		}
	}
	if len(found) == 1 {
		return found[0], planPosition{read: end}, nil
	}
	return d.Join(found), planPosition{read: end}, nil
}

// readPoint reads the row of a point, nil if it does not exist. Pages before the one
// that has the row may be empty.
func (p *ReadPlan) readPoint(ctx context.Context, d PageDecoder, read int) (Rows, error) {
	first, err := p.readFirst(ctx, d, read, 1)
	for err == nil && first.rows != nil && first.rows.Len() == 0 && first.next != (wire.Position{}) {
		first.rows, first.next, err = p.readPage(ctx, d, p.reads[read].Filter, first.next, 1)
	}
	return first.rows, err
}

// firstPage is the reply to the first request of a read.
type firstPage struct {
	read int
	rows Rows // nil: the row of a point does not exist
	next wire.Position
}

// readFirst makes the first request of a read.
func (p *ReadPlan) readFirst(ctx context.Context, d PageDecoder, read, size int) (firstPage, error) {
	if p.reads[read].Point && p.requested == nil {
		rows, err := p.source.Get(ctx, p.reads[read].Key, d)
		if errors.Is(err, azerr.ErrNotFound) {
			err = nil
		}
		return firstPage{read: read, rows: rows}, err
	}
	rows, next, err := p.readPage(ctx, d, p.reads[read].Filter, wire.Position{}, size)
	return firstPage{read, rows, next}, err
}

// readPage reads one page of a range, size rows at most. On success Rows are not nil.
func (p *ReadPlan) readPage(ctx context.Context, d PageDecoder, f query.Filter, token wire.Position, size int) (Rows, wire.Position, error) {
	var rows Rows
	top := p.top(size)
	next, err := p.source.client.Query(ctx, wire.Query{
		Filter: f.String(),
		Select: p.selectText,
		Top:    top,
		Bare:   p.source.bare,
		Next:   token,
	}, func(body []byte) (err error) {
		rows, err = d.Page(body, size, p.selected, p.partition)
		return err
	})
	if err != nil {
		return nil, wire.Position{}, err
	}
	if top != 0 && rows.Len() > int(top) {
		return nil, wire.Position{}, fmt.Errorf("query: %w: more rows than asked for", azerr.ErrBadReply)
	}
	return rows, next, nil
}

// top is the page size to request. If the caller leaves the size to the service, it is 0:
// the service then returns 1000 rows, but Cosmos DB may return more.
func (p *ReadPlan) top(size int) int32 {
	if size == maxPage && p.size == 0 && p.limit == 0 {
		return 0
	}
	return int32(size)
}
