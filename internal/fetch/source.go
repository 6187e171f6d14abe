// Package fetch reads rows of a table. It plans a filter as point reads and ranges, each
// read page by page, and requests several of them concurrently if there are several.
//
// Nothing here depends on the Go type of the rows: a [PageDecoder] turns the body of a reply
// into [Rows] of the caller's type, of which the package uses only the keys. It calls
// both interfaces a few times per page, not per row.
//
// The path of a read is [Source.Get] for one key; otherwise [Source.Plan], and then
// [ReadPlan.Run], [ReadPlan.Page] or [ReadPlan.Scan].
package fetch

import (
	"context"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// Rows are decoded rows of the caller's type, in key order. A single goroutine uses
// them at a time.
type Rows interface {
	Len() int
	Key(i int) keys.Key

	// Trim removes the rows before from, and those from to on.
	Trim(from, to int)
}

// PageDecoder makes Rows of replies. It must be safe for concurrent use. A body is valid
// only during the call. One reply may be decoded several times, because a request whose
// reply breaks off is repeated; only the last result counts.
type PageDecoder interface {
	// Page decodes a page of a query. It has size rows at most, unless the service
	// chooses the size of pages. Selected are the properties that were requested, nil
	// for all. partition is the partition key of all rows if they were read without it,
	// otherwise nil.
	Page(body []byte, size int, selected []string, partition *string) (Rows, error)

	// Entity decodes the reply to a point read, as Rows of length one. The ETag of the
	// reply's header, if not "", takes precedence over the one in the body.
	Entity(etag string, body []byte) (Rows, error)

	// Join returns the rows of all parts in order; there may be no parts. The parts are
	// not used afterwards.
	Join(parts []Rows) Rows
}

// Source is a table whose rows are read with one codec. It is safe for concurrent use.
type Source struct {
	client *wire.Client
	schema query.Schema // what filters may name; nil: any property
	codec  *edm.Codec
	only   []string     // the properties to request; nil: all
	system []string     // the same of those that every row has
	bare   bool         // request no metadata
	view   *Restriction // nil: all rows
}

// Age returns how long ago t was by the clock of the service, which the replies show.
func (s *Source) Age(t time.Time) time.Duration { return s.client.Age(t) }

// Begin begins the span of a read. A Source with a Restriction is that of a store.
func (s *Source) Begin(ctx context.Context, op string) (context.Context, *wire.Span) {
	if s.view != nil {
		return s.client.Begin(ctx, "store.", op)
	}
	return s.client.Begin(ctx, "table.", op)
}

// NewSource returns the Source of the whole rows of client's table. Filters may name
// the properties that the codec's type has, or any if the type takes them all.
func NewSource(client *wire.Client, codec *edm.Codec) *Source {
	return &Source{client: client, schema: schemaOf(codec), codec: codec, system: systemProperties}
}

// Project returns the Source of the same table that requests only the properties of
// codec's type, and no metadata if the type needs none; see [edm.Codec.Bare]. These must be
// properties of s, with the same property types, or else the error is an
// [*types.PropertyError]. Filters may name what those of s may name.
func (s *Source) Project(codec *edm.Codec) (*Source, error) {
	p := &Source{client: s.client, schema: s.schema, codec: codec, system: systemProperties}
	if codec.Open() {
		return p, nil
	}
	var timestamp bool
	if p.bare, timestamp = codec.Bare(); p.bare && !timestamp {
		p.system = keyProperties
	}
	p.only = []string{}
	for _, f := range codec.Fields() {
		have, ok := s.schema[f.Name]
		if _, others := s.schema[""]; others && !ok {
			have, ok = queryType(f), !f.Encrypted
		}
		if s.schema != nil && (!ok || have != queryType(f)) {
			return nil, &types.PropertyError{Property: f.Name, Want: "a property of the table's type", Got: f.EDM.String()}
		}
		p.only = append(p.only, f.Name)
	}
	return p, nil
}

// Bare reports whether the rows are read without metadata, and so without their ETags.
func (s *Source) Bare() bool { return s.bare }

// A Restriction restricts a Source to some of the rows of its table. It must be a function of the
// row alone, so that a row that does not change is always in the Restriction or never.
type Restriction struct {
	// Filter is matched by all rows of the Restriction. The service evaluates it.
	Filter query.Filter

	// Whole means that Drop needs whole rows, Needs that it needs these properties. A plan
	// that selects properties reads them too.
	Whole bool
	Needs []string

	// Drop removes the rows that are not in the Restriction. Of the others it removes what was read
	// in addition to selected; nil means that nothing was.
	Drop func(rows Rows, selected []string)
}

// Restrict returns the Source of the rows of v. The number of rows in a page, and the Limit of
// a plan, count these rows only. A page can be shorter than requested, or empty, although more
// rows follow. [Source.Get] ignores the Restriction. The error is that of its filter.
func (s *Source) Restrict(v *Restriction) (*Source, error) {
	err := v.Filter.Err()
	if err == nil && s.schema != nil {
		err = v.Filter.Check(s.schema)
	}
	r := *s
	r.view = v
	return &r, err
}

// Get reads the row at key, as Rows of length one. If the row does not exist, the error
// matches [azerr.ErrNotFound]. One request.
func (s *Source) Get(ctx context.Context, key keys.Key, d PageDecoder) (Rows, error) {
	if err := key.Validate(); err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	if s.only != nil {
		return s.getByQuery(ctx, key, d)
	}
	var rows Rows
	err := s.client.Get(ctx, key.Partition, key.Row, func(etag string, body []byte) (err error) {
		rows, err = d.Entity(etag, body)
		if err == nil && rows.Key(0) != key {
			err = fmt.Errorf("%w: another row than asked for", azerr.ErrBadReply)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// getByQuery reads a part of one row. Only a query can ask for a part. A query for an
// exact key costs the service the same as a point read.
func (s *Source) getByQuery(ctx context.Context, key keys.Key, d PageDecoder) (Rows, error) {
	p, err := s.Plan(query.And(query.PartitionKey.Eq(key.Partition), query.RowKey.Eq(key.Row)), nil)
	if err != nil {
		return nil, err
	}
	var found Rows
	p.Run(ctx, d, func(rows Rows, failed error) bool {
		if err = failed; err == nil && rows.Len() > 0 {
			rows.Trim(0, 1)
			found = rows
		}
		return found == nil
	})
	if err == nil && found == nil {
		err = fmt.Errorf("get: %w", azerr.ErrNotFound)
	}
	return found, err
}
