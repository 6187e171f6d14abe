package auth

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
)

// roleClaim is the claim of a token with the roles of its principal. A token without it permits everything.
const roleClaim = "storagetest_roles"

// The operations that a token can permit, by what the definitions of the roles contain.
var (
	readRows      = []op.Op{op.TableGet, op.TableQuery, op.TableList}
	writeRows     = []op.Op{op.TableInsert, op.TableReplace, op.TableMerge, op.TableUpsertReplace, op.TableUpsertMerge, op.TableDelete, op.TableCreate, op.TableDrop}
	readMessages  = []op.Op{op.QueuePeek}
	readQueues    = []op.Op{op.QueueList, op.QueueGetMetadata}
	takeMessages  = []op.Op{op.QueueGet, op.QueueDelete}
	writeMessages = []op.Op{op.QueuePut, op.QueueUpdate, op.QueueClear}
	writeQueues   = []op.Op{op.QueueCreate, op.QueueDrop, op.QueueSetMetadata}
	readBlobs     = []op.Op{op.BlobGet, op.BlobHead, op.BlobGetBlockList, op.BlobList, op.BlobGetContainer, op.BlobListContainers}
	writeBlobs    = []op.Op{
		op.BlobPut, op.BlobPutBlock, op.BlobPutBlockList, op.BlobAppend, op.BlobSeal, op.BlobDelete, op.BlobSetMetadata, op.BlobSetHeaders, op.BlobSetTier,
		op.BlobLease, op.BlobCopy, op.BlobAbortCopy, op.BlobSnapshot, op.BlobBatch,
		op.BlobCreateContainer, op.BlobDeleteContainer, op.BlobSetContainerMetadata, op.BlobLeaseContainer,
	}
	ownBlobs = []op.Op{op.BlobGetTags, op.BlobSetTags, op.BlobGetACL, op.BlobSetACL}
)

// roles are the operations of the built-in roles for data. None of them permits the properties of a service, or the access policies of a
// table or a queue.
// https://learn.microsoft.com/azure/role-based-access-control/built-in-roles/storage
// https://learn.microsoft.com/rest/api/storageservices/authorize-with-azure-active-directory#permissions-for-calling-data-operations
var roles = map[string][]op.Op{
	"Storage Table Data Reader":            readRows,
	"Storage Table Data Contributor":       slices.Concat(readRows, writeRows),
	"Storage Queue Data Reader":            slices.Concat(readMessages, readQueues),
	"Storage Queue Data Contributor":       slices.Concat(readMessages, readQueues, takeMessages, writeMessages, writeQueues),
	"Storage Queue Data Message Processor": slices.Concat(readMessages, takeMessages),
	"Storage Queue Data Message Sender":    {op.QueuePut},
	"Storage Blob Data Reader":             readBlobs,
	"Storage Blob Data Contributor":        slices.Concat(readBlobs, writeBlobs),
	"Storage Blob Data Owner":              slices.Concat(readBlobs, writeBlobs, ownBlobs),
}

// IsRole reports whether there is a role with this name.
func IsRole(name string) bool { return roles[name] != nil }

// TokenOf returns a token whose principal has these roles.
func TokenOf(names []string) string {
	claims, _ := json.Marshal(map[string][]string{roleClaim: append([]string{}, names...)}) // cannot fail for strings
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none"}`)) + "." + encode(claims) + "." + encode([]byte("storagetest"))
}

// principal is what the roles of a token permit.
type principal struct{ ops []op.Op }

// principalOf returns the principal of a token, nil if the token does not name its roles.
func principalOf(token string) *principal {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	var c struct {
		Roles []string `json:"storagetest_roles"`
	}
	if err != nil || json.Unmarshal(claims, &c) != nil || c.Roles == nil {
		return nil
	}
	p := &principal{}
	for _, name := range c.Roles {
		p.ops = append(p.ops, roles[name]...)
	}
	return p
}

// permits reports whether a role of p permits o. The nil principal may do everything. A request that is no operation is refused by its
// service, not here.
func (p *principal) permits(o op.Op) bool {
	return p == nil || o == op.TableOther || o == op.QueueOther || o == op.BlobOther || slices.Contains(p.ops, o)
}
