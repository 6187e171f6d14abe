package table

import (
	"net/http"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/filter"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// carryOutOnTables carries out an operation on whole tables.
func (s *Service) carryOutOnTables(c *call) *reply.Error {
	if err := c.grant.Allow(c.Op, ""); err != nil {
		return err
	}
	switch {
	case c.Op == op.TableCreate:
		return s.createTable(c)
	case c.Op == op.TableDrop:
		if err := s.drop(c.Address.Arg, c.Time()); err != nil {
			return err
		}
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	case c.Address.Keyed:
		return s.getTable(c, c.Address.Arg)
	}
	return s.listTables(c)
}

func (s *Service) createTable(c *call) *reply.Error {
	if _, err := c.Body(request.MaxTableBody); err != nil {
		return err
	}
	if err := checkContent(c.Header); err != nil {
		return err
	}
	l, err := levelOf(formatOf(c.Request))
	if err != nil {
		return err
	}
	members, ok := c.Object()
	if !ok {
		return errInvalidInput.Because("the body is not a JSON object")
	}
	i := slices.IndexFunc(members, func(m request.Member) bool { return m.Name == "TableName" })
	switch {
	case i < 0 || members[i].Kind == request.NullValue:
		return errNeedValue.Because("TableName is missing")
	case members[i].Kind != request.StringValue:
		return errInvalidInput.Because("TableName: not a text")
	}
	name := members[i].Text
	if err := s.create(name, c.Time()); err != nil {
		return err
	}
	h := c.w.Header()
	h["Location"] = []string{c.Base + "/Tables('" + name + "')"}
	echo, preferred := prefersEcho(c.Header)
	if preferred {
		h["Preference-Applied"] = []string{preference(echo)}
	}
	if !echo {
		h["Dataserviceid"] = h["Location"]
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	c.json(http.StatusCreated, l, c.tableElement(name, l))
	return nil
}

func (s *Service) getTable(c *call, name string) *reply.Error {
	l, err := levelOf(formatOf(c.Request))
	if err != nil {
		return err
	}
	t := s.named(name)
	if t == nil { // also while its name is still blocked, as in recordings of the service
		return errResourceNotFound
	}
	c.json(http.StatusOK, l, c.tableElement(t.name, l))
	return nil
}

// tableElement returns the body of a reply that contains one table.
func (c *call) tableElement(name string, l level) []byte {
	b := []byte{'{'}
	if l != noMetadata {
		b = append(b, `"odata.metadata":`...)
		b = appendString(b, c.Base+"/$metadata#Tables/@Element")
		b = append(b, ',')
	}
	return append(c.appendTable(b, name, l), '}')
}

func (c *call) appendTable(b []byte, name string, l level) []byte {
	if l == fullMetadata {
		base := c.Base
		b = append(b, `"odata.type":`...)
		b = appendString(b, accountOf(base)+".Tables")
		b = append(b, `,"odata.id":`...)
		b = appendString(b, base+"/Tables('"+name+"')")
		b = append(b, `,"odata.editLink":`...)
		b = appendString(b, "Tables('"+name+"')")
		b = append(b, ',')
	}
	b = append(b, `"TableName":`...)
	return appendString(b, name)
}

// tableRow is a table as a row for filters, which has only the property TableName.
type tableRow string

func (t tableRow) Value(name string) (filter.Value, bool) {
	return filter.Value{Text: string(t)}, name == "TableName"
}

func (s *Service) listTables(c *call) *reply.Error {
	l, err := levelOf(formatOf(c.Request))
	if err != nil {
		return err
	}
	o, err := parseOptions(c.Query)
	if err != nil {
		return err
	}
	if err := c.checkFilter(o.filter); err != nil {
		return err
	}
	from := ""
	if token := c.Query.Get("NextTableName"); token != "" {
		var ok bool
		if from, ok = decodeToken(token); !ok {
			return errInvalidInput.Because("NextTableName: not a token of the service")
		}
	}
	shape := c.Page.WithDefaults(s.page)
	limit := o.top
	if shape.Rows > 0 {
		limit = min(limit, shape.Rows)
	}

	b := []byte{'{'}
	if l != noMetadata {
		b = append(b, `"odata.metadata":`...)
		b = appendString(b, c.Base+"/$metadata#Tables")
		b = append(b, ',')
	}
	b = append(b, `"value":[`...)
	returned, scanned := 0, 0
	matches := func(t *table) bool { return o.filter.Match(tableRow(t.name)) }
	tables := s.list(from)
	for i, t := range tables {
		// The last page has no token, even if further tables do not match.
		if returned == limit && slices.ContainsFunc(tables[i:], matches) || shape.Scan > 0 && scanned == shape.Scan {
			c.w.Header()["X-Ms-Continuation-Nexttablename"] = []string{encodeToken(strings.ToLower(t.name))}
			break
		}
		scanned++
		if !matches(t) {
			continue
		}
		if returned > 0 {
			b = append(b, ',')
		}
		returned++
		b = append(c.appendTable(append(b, '{'), t.name, l), '}')
	}
	c.Count(returned, scanned, 0)
	c.json(http.StatusOK, l, append(b, `]}`...))
	return nil
}

// list returns the tables whose lower-case names are not before from, in their order.
func (s *store) list(from string) []*table {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var names []string
	for lower := range s.tables {
		if lower >= from {
			names = append(names, lower)
		}
	}
	slices.Sort(names)
	tables := make([]*table, len(names))
	for i, n := range names {
		tables[i] = s.tables[n]
	}
	return tables
}

// accountOf returns the name of the account at an address.
func accountOf(base string) string {
	account := base[strings.LastIndexByte(base, '/')+1:]
	account, _, _ = strings.Cut(account, ".")
	return strings.TrimSuffix(account, "-secondary")
}
