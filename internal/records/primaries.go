package records

import (
	"slices"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// reserved is the range of the row keys of the library.
var reserved = keys.Prefix(view.ReservedRow)

// Primaries returns the Reader of the primaries among the rows of r, without those that have expired. All of them match filter. The
// error is that of the filter.
func (r *Reader) Primaries(views *view.Set, filter query.Filter, expired func(entity any) bool) (*Reader, error) {
	primaries := &Reader{Stamped: r.Stamped, Sent: r.Sent, codec: r.codec, slice: r.slice, primaries: views}
	whole := views.KeyOf != nil && filter.IsZero() || views.HasOwner() || views.HasExpiring()
	if views.Journal() != nil {
		// Without the rows of the journal, which may be many. A query of a partition becomes two, of the rows before and after them.
		filter = query.And(filter, query.Or(query.RowKey.Lt(reserved.From), query.RowKey.Ge(reserved.To)))
	}
	var err error
	primaries.Source, err = r.Source.Restrict(&fetch.Restriction{
		Filter: filter,
		Whole:  whole,
		Needs:  view.MarkProperties(),
		Drop: func(rows fetch.Rows, selected []string) {
			p := rows.(*Page)
			p.keepPrimaries(views, selected == nil || whole, expired)
			if selected != nil {
				p.project(selected)
			}
		},
	})
	return primaries, err
}

// keepPrimaries removes the records that are not primaries. inFull means that they have all
// properties.
func (p *Page) keepPrimaries(views *view.Set, inFull bool, expired func(any) bool) {
	kept := p.Records[:0]
	for i := range p.Records {
		ok, err := views.IsPrimary(&p.Records[i], inFull)
		if err != nil || ok && !expired(p.Records[i].Value) { // a write returns the error
			kept = append(kept, p.Records[i])
		}
	}
	p.Records = kept
}

// Keep removes from the value of a record all properties but those named.
func (r *Reader) Keep(record *txn.Record, names []string) { r.codec.Keep(record.Value, names) }

// project removes from the records what was read in addition to the properties selected.
func (p *Page) project(selected []string) {
	for i := range p.Records {
		record := &p.Records[i]
		p.reader.Keep(record, selected)
		var origin txn.Origin
		if record.Origin != nil {
			origin = *record.Origin
		}
		origin.Selected = selected
		origin.Unknown = origin.Unknown.Keep(func(name []byte) bool { return slices.Contains(selected, string(name)) })
		record.Origin = &origin
	}
}
