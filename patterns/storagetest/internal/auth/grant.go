package auth

import (
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// Kind is how a request was authorized.
type Kind uint8

// The kinds. A Grant with the zero Kind permits nothing.
const (
	None Kind = iota
	SharedKey
	Bearer
	AccountSAS
	ServiceSAS
)

// Grant describes what a verified request may do. The zero Grant permits nothing.
type Grant struct {
	kind        Kind
	permissions string
	types       string     // account SAS: resource types
	principal   *principal // bearer token: of its roles

	// Service SAS only.
	resource string // table in lower case, queue or container
	blob     string // "" is the whole container
	rows     KeyRange
}

// Owner returns the Grant of the owner of the account, which permits everything.
func Owner() Grant { return Grant{kind: SharedKey} }

// Kind returns how the request was authorized.
func (g Grant) Kind() Kind { return g.kind }

// Range returns the key range to which a service SAS for a table restricts reads and
// writes. A query returns only the rows that it contains.
func (g Grant) Range() KeyRange { return g.rows }

// Allow returns an error unless o is permitted on the resource: the name of the table,
// queue or container, "" for the whole account.
//
// The rows of a query have to be restricted to [Grant.Range]. An operation on one
// entity needs [Grant.AllowRow], a request to the Blob service [Grant.AllowBlob].
func (g Grant) Allow(o op.Op, resource string) *reply.Error {
	if !g.principal.permits(o) {
		return wrongPermission()
	}
	return g.allow(o.Access(), resource)
}

func (g Grant) allow(need op.Access, resource string) *reply.Error {
	switch g.kind {
	case SharedKey, Bearer:
		return nil
	case AccountSAS:
		if need.Account == "" {
			return wrongResource()
		}
		if need.ResourceType != 0 && strings.IndexByte(g.types, need.ResourceType) < 0 {
			return wrongType()
		}
		if !permits(need.Account, g.permissions) {
			return wrongPermission()
		}
		return nil
	case ServiceSAS:
		// Table names are case-insensitive; the other names are lower case.
		if need.Service == "" || g.resource != strings.ToLower(resource) || need.Container && g.blob != "" {
			return wrongResource()
		}
		if !permits(need.Service, g.permissions) {
			return wrongPermission()
		}
		return nil
	}
	return wrongResource()
}

// AllowRow is Allow for an operation on one entity: with a service SAS its keys
// must also be in the range of the SAS.
func (g Grant) AllowRow(o op.Op, table, partitionKey, rowKey string) *reply.Error {
	if refusal := g.Allow(o, table); refusal != nil {
		return refusal
	}
	if !g.rows.Contains(partitionKey, rowKey) {
		return wrongResource()
	}
	return nil
}

// AllowBlob is Allow for a request to the Blob service. A SAS for a blob permits
// operations on that blob only. exists reports whether the blob of the request exists. It
// is called only for operations that may create a blob, because creating needs fewer
// permissions than overwriting.
func (g Grant) AllowBlob(r *request.Request, exists func() bool) *reply.Error {
	switch {
	case !g.principal.permits(r.Op):
		return wrongPermission()
	case g.kind == SharedKey || g.kind == Bearer:
		return nil
	}
	need := r.Op.Access()
	if end, ok := r.Op.AccessToBreakLease(); ok && r.Header.Get("X-Ms-Lease-Action") == "break" {
		need = end
	}
	create, creates := r.Op.AccessToCreate()
	if creates && !exists() {
		need, creates = create, false
	}
	refusal := g.allowBlob(need, r.Resource, r.Name)
	if refusal != nil && creates && g.allowBlob(create, r.Resource, r.Name) == nil {
		return blobOverwrite()
	}
	return refusal
}

func (g Grant) allowBlob(need op.Access, container, blob string) *reply.Error {
	if refusal := g.allow(need, container); refusal != nil {
		return refusal
	}
	if blob != "" && g.blob != "" && g.blob != blob {
		return wrongResource()
	}
	return nil
}

// permits reports whether the permissions have satisfy need, see [op.Access].
func permits(need, have string) bool {
	if all := strings.Split(need, "+"); len(all) > 1 {
		for _, p := range all {
			if !strings.Contains(have, p) {
				return false
			}
		}
		return true
	}
	return strings.ContainsAny(have, need)
}
