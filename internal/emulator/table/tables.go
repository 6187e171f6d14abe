package table

import (
	"net/http"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// routeTables serves the collection of tables.
func (s *Service) routeTables(c *call, m string, a address) *rest.Error {
	right := rest.ListTables
	switch m {
	case http.MethodPost:
		right = rest.CreateTable
	case http.MethodDelete:
		right = rest.DeleteTable
	}
	if err := c.side.Guards().Allow(right, ""); err != nil {
		return err
	}
	switch {
	case m == http.MethodPost && !a.keyed:
		return s.createTable(c)
	case m == http.MethodDelete && a.keyed:
		if err := s.drop(a.arg); err != nil {
			return err
		}
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	case m == http.MethodGet && a.keyed:
		return s.getTable(c, a.arg)
	case m == http.MethodGet:
		return s.listTables(c)
	}
	return errMethod
}

func (s *Service) createTable(c *call) *rest.Error {
	body, err := rest.ReadBody(c.r, maxBody)
	if err != nil {
		return err
	}
	if err := checkContent(c.r.Header); err != nil {
		return err
	}
	l, err := levelOf(c.format())
	if err != nil {
		return err
	}
	members, ok := scanObject(body)
	if !ok {
		return errInvalidInput
	}
	i := slices.IndexFunc(members, func(m member) bool { return m.name == "TableName" })
	switch {
	case i < 0 || members[i].kind == kindNull:
		return errNeedValue
	case members[i].kind != kindString:
		return errInvalidInput
	}
	name := members[i].text
	if err := s.create(name); err != nil {
		return err
	}
	h := c.w.Header()
	h["Location"] = []string{c.base() + "/Tables('" + name + "')"}
	switch prefer := c.r.Header.Get("Prefer"); {
	case strings.EqualFold(prefer, "return-no-content"):
		h["Preference-Applied"] = []string{preference(false)}
		h["Dataserviceid"] = h["Location"]
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	case strings.EqualFold(prefer, "return-content"):
		h["Preference-Applied"] = []string{preference(true)}
	}
	c.json(http.StatusCreated, l, c.tableElement(name, l))
	return nil
}

func (s *Service) getTable(c *call, name string) *rest.Error {
	l, err := levelOf(c.format())
	if err != nil {
		return err
	}
	t, err := s.lookup(name)
	if err == errTableNotFound {
		err = errResourceNotFound
	}
	if err != nil {
		return err
	}
	c.json(http.StatusOK, l, c.tableElement(t.name, l))
	return nil
}

// tableElement is one table as an answer of its own.
func (c *call) tableElement(name string, l level) []byte {
	b := []byte{'{'}
	if l != noMetadata {
		b = append(b, `"odata.metadata":`...)
		b = appendString(b, c.base()+"/$metadata#Tables/@Element")
		b = append(b, ',')
	}
	return append(c.appendTable(b, name, l), '}')
}

func (c *call) appendTable(b []byte, name string, l level) []byte {
	if l == fullMetadata {
		base := c.base()
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

// tableRow makes the name of a table answer a filter.
type tableRow string

func (t tableRow) Lookup(name string) (any, bool) { return string(t), name == "TableName" }

func (s *Service) listTables(c *call) *rest.Error {
	l, err := levelOf(c.format())
	if err != nil {
		return err
	}
	o, err := parseOptions(c.query())
	if err != nil {
		return err
	}
	from := ""
	if token := c.query().Get("NextTableName"); token != "" {
		var ok bool
		if from, ok = decodeToken(token); !ok {
			return errInvalidInput
		}
	}
	shape := s.shape(c.side)
	limit := o.top
	if shape.Rows > 0 {
		limit = min(limit, shape.Rows)
	}

	b := []byte{'{'}
	if l != noMetadata {
		b = append(b, `"odata.metadata":`...)
		b = appendString(b, c.base()+"/$metadata#Tables")
		b = append(b, ',')
	}
	b = append(b, `"value":[`...)
	returned, scanned := 0, 0
	for _, t := range s.list(from) {
		if returned == limit || shape.Scan > 0 && scanned == shape.Scan {
			c.w.Header()["X-Ms-Continuation-Nexttablename"] = []string{encodeToken(strings.ToLower(t.name))}
			break
		}
		scanned++
		if !o.filter.Match(tableRow(t.name)) {
			continue
		}
		if returned > 0 {
			b = append(b, ',')
		}
		returned++
		b = append(c.appendTable(append(b, '{'), t.name, l), '}')
	}
	c.side.Count(returned, scanned, 0)
	c.json(http.StatusOK, l, append(b, `]}`...))
	return nil
}

// list returns the tables from a name in lower case on, in the order of these.
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

// accountOf cuts the account's name out of its address.
func accountOf(base string) string {
	account := base[strings.LastIndexByte(base, '/')+1:]
	account, _, _ = strings.Cut(account, ".")
	return account
}
