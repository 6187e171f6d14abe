package auth

import "strings"

// Kind is how a request was authorised.
type Kind uint8

// The kinds; the zero Kind is that of a Grant that permits nothing.
const (
	None Kind = iota
	SharedKey
	Bearer
	AccountSAS
	ServiceSAS
)

// Grant is what a verified request may do. The zero Grant permits nothing.
type Grant struct {
	kind        Kind
	permissions string
	types       string // account SAS: resource types

	// Service SAS only.
	resource string // table in lower case, queue or container
	blob     string // "" = the whole container
	rows     KeyRange
}

// Kind tells how the request was authorised.
func (g Grant) Kind() Kind { return g.kind }

// Range is the key range to which a service SAS for a table narrows every read
// and write. A query answers only the rows that it contains.
func (g Grant) Range() KeyRange { return g.rows }

// Allow refuses op unless it is permitted on the resource: the name of the
// table, queue or container, "" for what concerns the whole account. It answers
// nil if op is permitted.
//
// For a query the rows are still to be narrowed to [Grant.Range]; for a single
// entity ask [Grant.AllowRow], for a blob [Grant.AllowBlob].
func (g Grant) Allow(op Op, resource string) *Refusal {
	if op >= ops {
		return wrongResource()
	}
	r := rules[op]
	switch g.kind {
	case SharedKey, Bearer:
		return nil
	case AccountSAS:
		if r.account == "" {
			return wrongResource()
		}
		if r.kind != 0 && strings.IndexByte(g.types, r.kind) < 0 {
			return wrongType()
		}
		if !permits(r.account, g.permissions) {
			return wrongPermission()
		}
		return nil
	case ServiceSAS:
		// Table names are case-insensitive; the other names are lower case.
		if r.service == "" || g.resource != strings.ToLower(resource) || r.parent && g.blob != "" {
			return wrongResource()
		}
		if !permits(r.service, g.permissions) {
			return wrongPermission()
		}
		return nil
	}
	return wrongResource()
}

// AllowRow is Allow for an operation on one entity: with a service SAS its keys
// must also lie in the range of the SAS.
func (g Grant) AllowRow(op Op, table, partitionKey, rowKey string) *Refusal {
	if refusal := g.Allow(op, table); refusal != nil {
		return refusal
	}
	if !g.rows.Contains(partitionKey, rowKey) {
		return wrongResource()
	}
	return nil
}

// AllowBlob is Allow for an operation on one blob: a SAS for a blob reaches that
// blob only.
func (g Grant) AllowBlob(op Op, container, blob string) *Refusal {
	if refusal := g.Allow(op, container); refusal != nil {
		return refusal
	}
	if g.blob != "" && g.blob != blob {
		return wrongResource()
	}
	return nil
}
