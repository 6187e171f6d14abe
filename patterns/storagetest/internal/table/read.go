package table

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/auth"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// get replies to a point read.
func (s *Service) get(c *call) *reply.Error {
	if err := c.checkFormat(); err != nil {
		return err
	}
	l, err := levelOf(formatOf(c.Request))
	if err != nil {
		return err
	}
	names, err := parseSelect(c.Query.Get("$select"))
	if err != nil {
		return err
	}
	r, t, err := s.find(c, c.Request)
	if err != nil {
		return err
	}
	h := c.w.Header()
	h["Etag"] = []string{r.etag()}
	b := c.entity(r, t, l, names)
	c.json(http.StatusOK, l, b)
	return nil
}

// find returns the row that r addresses, if the credential permits reading it. r is the
// request of c, or a part of its batch.
func (s *Service) find(c *call, r *request.Request) (*row, *table, *reply.Error) {
	key := r.Address.Key
	if err := c.grant.AllowRow(op.TableGet, r.Resource, key.Partition, key.Row); err != nil {
		return nil, nil, err
	}
	t, err := s.lookup(r.Resource, c.Time())
	if err != nil {
		return nil, nil, err
	}
	var found *row
	if err := s.read(t, c.Time(), func() { found = t.rows.get(key.Partition, key.Row) }); err != nil {
		return nil, nil, err
	}
	if found == nil {
		return nil, nil, errResourceNotFound
	}
	c.Count(1, 1, 0)
	return found, t, nil
}

// entity returns the body of a reply that contains one row.
func (c *call) entity(r *row, t *table, l level, names []string) []byte {
	b := make([]byte, 0, 384+len(r.shape.json)+len(r.text)) // usually enough
	b = append(b, '{')
	if l != noMetadata {
		b = append(b, `"odata.metadata":`...)
		b = appendString(b, c.Base+"/$metadata#"+t.name+"/@Element")
		b = append(b, ',')
	}
	from := len(b)
	b = r.append(b, &form{level: l, names: names, table: t.name, base: c.Base})
	// Remove the brace with which the row begins: its members belong to this object.
	copy(b[from:], b[from+1:])
	return b[:len(b)-1]
}

// checkFormat decides about the short form of a media type.
func (c *call) checkFormat() *reply.Error {
	if c.Query.Get("$format") != shortJSON {
		return nil
	}
	return c.Undecided("$format", "json is not among the documented media types", errFormat)
}

// maxScanned is the number of rows that the service examines in five seconds at the target of a partition, 2,000 per second.
const maxScanned = 10_000

// page is the result of one query request.
type page struct {
	rows    []*row
	scanned int
	next    *row // the first row of the next page
	bare    bool // the token contains a partition key only
}

// query replies with one page of a query.
func (s *Service) query(c *call) *reply.Error {
	if err := c.checkFormat(); err != nil {
		return err
	}
	l, err := levelOf(formatOf(c.Request))
	if err != nil {
		return err
	}
	q := c.Query
	o, err := parseOptions(q)
	if err != nil {
		return err
	}
	if err := c.checkFilter(o.filter); err != nil {
		return err
	}
	if err := c.grant.Allow(op.TableQuery, c.Resource); err != nil {
		return err
	}
	t, err := s.lookup(c.Resource, c.Time())
	if err != nil {
		return err
	}
	span := spanOf(o.filter)
	partition, row := span.start()
	if q.Has("NextPartitionKey") || q.Has("NextRowKey") {
		p, ok := decodeToken(q.Get("NextPartitionKey"))
		if !ok {
			return errInvalidInput.Because("NextPartitionKey: not a token of the service")
		}
		r := ""
		if q.Has("NextRowKey") && q.Get("NextRowKey") != "" {
			if r, ok = decodeToken(q.Get("NextRowKey")); !ok {
				return errInvalidInput.Because("NextRowKey: not a token of the service")
			}
		}
		if compareKeys(p, r, partition, row) > 0 {
			partition, row = p, r
		}
	}
	var pg page
	if err := s.read(t, c.Time(), func() { pg = t.page(partition, row, span, o, c.grant.Range(), c.Page.WithDefaults(s.page)) }); err != nil {
		return err
	}
	c.Count(len(pg.rows), pg.scanned, 0)
	if pg.scanned > maxScanned {
		c.Warn("query", "one page examined more than "+strconv.Itoa(maxScanned)+" rows; the service ends a page after five seconds, see Options.PageScan")
	}
	c.writePage(pg, t, l, o.names)
	return nil
}

// page collects rows from (partition, row) on. The caller holds the table's lock.
func (t *table) page(partition, row string, s span, o options, visible auth.KeyRange, short request.Page) page {
	limit := o.top
	if short.Rows > 0 {
		limit = min(limit, short.Rows)
	}
	all := visible.All()
	var pg page
	var last string
	for r := range t.rows.from(partition, row) {
		if s.before(r) || !all && !visible.Contains(r.partition(), r.key()) {
			continue
		}
		if s.past(r) {
			break
		}
		crossed := short.Boundary && pg.scanned > 0 && r.partition() != last
		if len(pg.rows) == limit || short.Scan > 0 && pg.scanned == short.Scan || crossed {
			pg.next, pg.bare = r, crossed
			break
		}
		last = r.partition()
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
		h["X-Ms-Continuation-Nextpartitionkey"] = []string{encodeToken(pg.next.partition())}
		if !pg.bare {
			h["X-Ms-Continuation-Nextrowkey"] = []string{encodeToken(pg.next.key())}
		}
	}
	b := append(make([]byte, 0, 1024), '{')
	if l != noMetadata {
		b = append(b, `"odata.metadata":`...)
		b = appendString(b, c.Base+"/$metadata#"+t.name)
		b = append(b, ',')
	}
	b = append(b, `"value":[`...)
	f := form{level: l, names: names, table: t.name, base: c.Base}
	for i, r := range pg.rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = r.append(b, &f)
		if i == 0 { // the other rows are probably as long
			b = slices.Grow(b, (len(b)+16)*(len(pg.rows)-1))
		}
	}
	c.json(http.StatusOK, l, append(b, `]}`...))
}
