// Package records reads rows of one table as records of one Go type. It has no type parameters: the
// typed facade converts a [txn.Record] to an item of its own, so each further entity type adds little
// code to a program.
package records

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// Reader reads the rows of one table as records of one Go type. It is safe for concurrent use.
type Reader struct {
	Source *fetch.Source

	// Stamped makes records remember the row's write stamps, Sent the text of the row.
	Stamped, Sent bool

	// TypeOf, if set, chooses the Go types of rows: by the row key and the text property Property, "" for
	// none; see [edm.Chooser]. The values of records are then of type *any.
	TypeOf   func(rowKey, text []byte, isText bool) any
	Property string

	codec *edm.Codec
	slice reflect.Type // of values
	bare  bool         // replies have no metadata

	// primaries, if set, are the rows of a store that the [fetch.Restriction] of Source will keep. Rows
	// that are not among them need not fit the type.
	primaries *view.Set

	origins  txn.Origins
	pages    sync.Pool    // of *Page
	lastSize atomic.Int64 // rows of the last page, the guess for the next
}

// pageDecoder is a Reader as a [fetch.PageDecoder].
type pageDecoder Reader

// New returns a Reader of the rows of source. Its values are of type t, which is that of codec
// unless TypeOf is set.
func New(source *fetch.Source, codec *edm.Codec, t reflect.Type) *Reader {
	return &Reader{Source: source, codec: codec, slice: reflect.SliceOf(t), bare: source.Bare()}
}

// Open returns a Reader of the rows of client's table, with the keys of the codec of another one.
func Open(client *aztables.Client, t reflect.Type, with *edm.Codec) (*Reader, error) {
	codec, err := with.Of(t)
	if err != nil {
		return nil, err
	}
	return New(fetch.NewSource(wire.NewClient(client), codec), codec, t), nil
}

// Get reads the row at key, as a Page of one record, which the caller releases. If the row does not
// exist, the error matches [azerr.ErrNotFound]. One request.
func (r *Reader) Get(ctx context.Context, key keys.Key) (*Page, error) {
	ctx, span := r.Source.Begin(ctx, "get")
	defer span.EndRead()
	rows, err := r.Source.Get(ctx, key, (*pageDecoder)(r))
	span.Found(err)
	if err != nil {
		return nil, err
	}
	return rows.(*Page), nil
}

// Query calls yield for each row that f matches, until it returns false; see [fetch.ReadPlan.Run]. After
// an error it ends. A record and its value are valid only during the call.
func (r *Reader) Query(ctx context.Context, f query.Filter, opts *types.QueryOptions, yield func(*txn.Record, error) bool) {
	plan, err := r.Source.Plan(f, opts)
	if err != nil {
		yield(nil, err)
		return
	}
	ctx, span := r.Source.Begin(ctx, "query")
	defer span.EndRead()
	span.Plan(plan.Cost())
	plan.Run(ctx, (*pageDecoder)(r), func(rows fetch.Rows, err error) bool {
		if err != nil {
			span.Fail(err)
			return yield(nil, err)
		}
		page := rows.(*Page)
		more := true
		for i := 0; more && i < len(page.Records); i++ {
			span.Rows(1)
			more = yield(&page.Records[i], nil)
		}
		r.Release(page)
		return more
	})
}

// Page reads the page at the cursor, and returns the cursor of the next one; see [fetch.ReadPlan.Page].
// The caller releases the Page, which is nil if there is nothing to read.
func (r *Reader) Page(ctx context.Context, f query.Filter, cursor string, opts *types.QueryOptions) (page *Page, next string, err error) {
	plan, err := r.Source.Plan(f, opts)
	if err != nil {
		return nil, "", err
	}
	ctx, span := r.Source.Begin(ctx, "page")
	defer span.EndRead()
	span.Plan(plan.Cost())
	rows, next, err := plan.Page(ctx, (*pageDecoder)(r), cursor)
	span.Fail(err)
	if err != nil || rows == nil {
		return nil, "", err
	}
	span.Rows(rows.Len())
	return rows.(*Page), next, nil
}

// Scan calls yield for each page of the rows that f matches, until it returns false; see
// [fetch.ReadPlan.Scan]. The Page and its records are valid only during the call.
func (r *Reader) Scan(ctx context.Context, f query.Filter, cursor string, opts *types.QueryOptions, yield func(*Page, fetch.ScanPage, error) bool) {
	plan, err := r.Source.PlanScan(f, opts)
	if err != nil {
		yield(nil, fetch.ScanPage{}, err)
		return
	}
	ctx, span := r.Source.Begin(ctx, "scan")
	defer span.EndRead()
	span.Plan(plan.Cost())
	plan.Scan(ctx, (*pageDecoder)(r), cursor, func(read fetch.ScanPage, err error) bool {
		if err != nil {
			span.Fail(err)
			return yield(nil, read, err)
		}
		page := read.Rows.(*Page)
		span.Rows(page.Len())
		more := yield(page, read, nil)
		r.Release(page)
		return more
	})
}
