package reindex

import (
	"context"
	"slices"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// table is a table that a run scans, and what it contains.
type table struct {
	client  *wire.Client
	primary bool            // it contains the primaries
	views   map[string]bool // that have rows in it
}

// Part is what is left to read of a table, or of a key range of it. Parts can be read in any
// order and by any process.
type Part struct {
	Table    int            // its place among the tables of the run; that of the primaries is the first
	Cursor   string         // of its scan; "" is the whole table
	Progress fetch.Progress // of its scan
}

// divide divides the tables into at most n parts each. At most 4n+32 requests for each table.
func (r *run) divide(ctx context.Context, n int) (parts []Part, err error) {
	for i, t := range r.tables {
		cursors, err := fetch.DivideProperties(ctx, t.client, query.Filter{}, r.scanOptions(), n)
		if err != nil {
			return nil, err
		}
		for _, c := range cursors {
			parts = append(parts, Part{Table: i, Cursor: c})
		}
	}
	return parts, nil
}

func (r *run) scanOptions() *fetch.Options {
	return &fetch.Options{Parallel: r.Parallel, Allow: query.TableScan}
}

// tables returns the tables of the selected views, that of the primaries first. If there are
// several clients it makes one request for each, to find out whether two of them are
// clients of one table.
func tables(ctx context.Context, s *outbox.Store, views []*view.View) (all []*table, requests int, err error) {
	all = []*table{{client: s.Table.Client, primary: true, views: map[string]bool{}}}
	for _, v := range views {
		t, _ := s.TableOf(v)
		i := slices.IndexFunc(all, func(o *table) bool { return o.client.Table() == t.Client.Table() })
		if i < 0 && len(all) == 1 {
			requests++
			err = learnAddress(ctx, all[0].client)
		}
		if i < 0 && err == nil {
			requests++
			if err = learnAddress(ctx, t.Client); err == nil {
				at, _ := t.Client.Address()
				i = slices.IndexFunc(all, func(o *table) bool { a, _ := o.client.Address(); return a == at })
			}
		}
		if err != nil {
			return nil, requests, err
		}
		if i < 0 {
			i = len(all)
			all = append(all, &table{client: t.Client, views: map[string]bool{}})
		}
		all[i].views[v.Name] = true
	}
	return all, requests, nil
}

// learnAddress reads a row that does not exist.
func learnAddress(ctx context.Context, c *wire.Client) error {
	_, err := txn.ReadRow(ctx, c, keys.Key{Partition: view.ReservedRow, Row: view.ReservedRow})
	return err
}

// primaryOf returns the primary in a row of the primaries' table, nil if it is another row. It
// fails if the row cannot be decoded, because it may be a damaged primary.
func primaryOf(s *outbox.Store, e *fetch.Entry) (*txn.Record, error) {
	var none edm.Unknown
	var marks []edm.Text
	for _, name := range view.MarkProperties() {
		if text, ok := e.Properties[name].(string); ok {
			marks = append(marks, edm.Text{Name: name, Value: text})
		}
	}
	marked := &txn.Record{Key: e.Key, Origin: &txn.Origin{Unknown: none.WithTexts(marks...)}}
	if ok, err := s.Views.IsPrimary(marked, false); !ok || err != nil || !s.Primaries.Match(entry{e}) {
		return nil, err
	}
	for _, v := range s.Views.Views {
		if v.Foreign() {
			continue
		}
		if _, claimed, err := v.Claims(e.Key, e.Properties); claimed || err != nil {
			return nil, err
		}
	}
	body, err := edm.AppendProperties(nil, e.Properties, edm.Envelope{PartitionKey: e.Key.Partition, RowKey: e.Key.Row, Stamp: e.Stamp})
	if err != nil {
		return nil, err
	}
	r := &txn.Record{Value: s.Table.Zero(), Key: e.Key, ETag: e.ETag, Timestamp: e.Timestamp}
	var meta edm.Meta
	var unknown edm.Unknown
	if err := s.Table.Codec.DecodeEntity(body, r.Value, &meta, &unknown); err != nil {
		return nil, err
	}
	meta.ETag = e.ETag
	r.Origin = txn.NewOrigin(&meta, &unknown, nil, s.Table.Stamped)
	if ok, err := s.Views.IsPrimary(r, true); !ok || err != nil {
		return nil, err
	}
	return r, nil
}

// entry is a [query.Row].
type entry struct{ *fetch.Entry }

func (e entry) Lookup(name string) (any, bool) {
	switch name {
	case "PartitionKey":
		return e.Key.Partition, true
	case "RowKey":
		return e.Key.Row, true
	case "Timestamp":
		return e.Timestamp, true
	}
	value, ok := e.Properties[name]
	return value, ok
}

// implied returns the rows that a primary implies; nil implies none.
func implied(s *outbox.Store, r *txn.Record, key keys.Key) ([]view.Derived, error) {
	if r == nil {
		return nil, nil
	}
	return s.Views.Before(view.ListingOf(r.Origin)).Derive(r.Value, key)
}
