package table

import (
	"net/http"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// get answers a point read.
func (s *Service) get(c *call, a address) *rest.Error {
	l, err := levelOf(c.format())
	if err != nil {
		return err
	}
	names, err := parseSelect(c.query().Get("$select"))
	if err != nil {
		return err
	}
	r, t, err := s.find(c.side, a)
	if err != nil {
		return err
	}
	h := c.w.Header()
	h["Etag"] = []string{r.etag}
	b := c.entity(r, t, l, names)
	c.json(http.StatusOK, l, b)
	return nil
}

// find looks up the row that a names, for whoever may read it.
func (s *Service) find(side *rest.Call, a address) (*row, *table, *rest.Error) {
	side.Touch(a.partition, a.row)
	if err := side.Guards().AllowRow(rest.ReadRows, a.name, a.partition, a.row); err != nil {
		return nil, nil, err
	}
	t, err := s.lookup(a.name)
	if err != nil {
		return nil, nil, err
	}
	var r *row
	if err := s.read(t, func() { r = t.rows.get(a.partition, a.row) }); err != nil {
		return nil, nil, err
	}
	if r == nil {
		return nil, nil, errResourceNotFound
	}
	side.Count(1, 1, 0)
	return r, t, nil
}

// entity writes one row as an answer of its own.
func (c *call) entity(r *row, t *table, l level, names []string) []byte {
	b := make([]byte, 0, 512)
	b = append(b, '{')
	base := ""
	if l != noMetadata {
		base = c.base()
		b = append(b, `"odata.metadata":`...)
		b = appendString(b, base+"/$metadata#"+t.name+"/@Element")
		b = append(b, ',')
	}
	from := len(b)
	if names == nil {
		b = r.append(b, l, t.name, base)
	} else {
		b = r.appendSelected(b, l, t.name, base, names)
	}
	// The row opens the object once more: put its members into this one.
	copy(b[from:], b[from+1:])
	return b[:len(b)-1]
}

// page is what one query request found.
type page struct {
	rows    []*row
	scanned int
	next    *row // the row that the next page begins with
	bare    bool // the token names a partition only
}

// query answers one page of a query.
func (s *Service) query(c *call, a address) *rest.Error {
	l, err := levelOf(c.format())
	if err != nil {
		return err
	}
	q := c.query()
	o, err := parseOptions(q)
	if err != nil {
		return err
	}
	guard := c.side.Guards()
	if err := guard.Allow(rest.ReadRows, a.name); err != nil {
		return err
	}
	t, err := s.lookup(a.name)
	if err != nil {
		return err
	}
	span := spanOf(o.filter)
	partition, row := span.start()
	if q.Has("NextPartitionKey") || q.Has("NextRowKey") {
		p, ok := decodeToken(q.Get("NextPartitionKey"))
		if !ok {
			return errInvalidInput
		}
		r := ""
		if q.Has("NextRowKey") && q.Get("NextRowKey") != "" {
			if r, ok = decodeToken(q.Get("NextRowKey")); !ok {
				return errInvalidInput
			}
		}
		if compareKeys(p, r, partition, row) > 0 {
			partition, row = p, r
		}
	}
	var pg page
	if err := s.read(t, func() { pg = t.page(partition, row, span, o, guard, s.shape(c.side)) }); err != nil {
		return err
	}
	c.side.Count(len(pg.rows), pg.scanned, 0)
	c.writePage(pg, t, l, o.names)
	return nil
}

// page collects rows from (partition, row) on. The table's lock is held.
func (t *table) page(partition, row string, s span, o options, guard rest.Guard, shape rest.Page) page {
	limit := o.top
	if shape.Rows > 0 {
		limit = min(limit, shape.Rows)
	}
	all := guard.All()
	var pg page
	var last string
	for r := range t.rows.from(partition, row) {
		if s.before(r) || !all && !guard.Sees(r.partition, r.key) {
			continue
		}
		if s.past(r) {
			break
		}
		crossed := shape.Boundary && pg.scanned > 0 && r.partition != last
		if len(pg.rows) == limit || shape.Scan > 0 && pg.scanned == shape.Scan || crossed {
			pg.next, pg.bare = r, crossed
			break
		}
		last = r.partition
		pg.scanned++
		if o.filter.Match(r) {
			pg.rows = append(pg.rows, r)
		}
	}
	return pg
}

func (c *call) writePage(pg page, t *table, l level, names []string) {
	if pg.next != nil {
		h := c.w.Header()
		h["X-Ms-Continuation-Nextpartitionkey"] = []string{encodeToken(pg.next.partition)}
		if !pg.bare {
			h["X-Ms-Continuation-Nextrowkey"] = []string{encodeToken(pg.next.key)}
		}
	}
	base := ""
	b := append(make([]byte, 0, 256), '{')
	if l != noMetadata {
		base = c.base()
		b = append(b, `"odata.metadata":`...)
		b = appendString(b, base+"/$metadata#"+t.name)
		b = append(b, ',')
	}
	b = append(b, `"value":[`...)
	if len(pg.rows) > 0 && l == minimalMetadata && names == nil {
		b = appendMinimal(b, pg.rows)
	} else {
		for i, r := range pg.rows {
			if i > 0 {
				b = append(b, ',')
			}
			if names != nil {
				b = r.appendSelected(b, l, t.name, base, names)
			} else {
				b = r.append(b, l, t.name, base)
			}
		}
	}
	c.json(http.StatusOK, l, append(b, `]}`...))
}

// appendMinimal joins rows that are kept in the form that is asked for.
func appendMinimal(b []byte, rows []*row) []byte {
	size := len(b) + 2
	for _, r := range rows {
		size += len(r.minimal()) + 1
	}
	b = append(make([]byte, 0, size), b...)
	for i, r := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, r.minimal()...)
	}
	return b
}
