package request_test

import (
	"net/http"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

func TestARequestHasTheOperationOfItsMethodAndAddress(t *testing.T) {
	const (
		tables = "https://acct.table.core.windows.net"
		queues = "http://127.0.0.1:10001/devstoreaccount1"
		blobs  = "https://acct.blob.core.windows.net"
		row    = "/People(PartitionKey='o''n',RowKey='r')"
	)
	tests := []struct {
		method, url, header string
		op                  op.Op
		resource, name      string
	}{
		{"GET", tables + row, "", op.TableGet, "People", ""},
		{"GET", tables + "/People()", "", op.TableQuery, "People", ""},
		{"GET", tables + "/People", "", op.TableQuery, "People", ""},
		{"POST", tables + "/People", "", op.TableInsert, "People", ""},
		{"PUT", tables + row, "If-Match", op.TableReplace, "People", ""},
		{"PUT", tables + row, "", op.TableUpsertReplace, "People", ""},
		{"PATCH", tables + row, "If-Match", op.TableMerge, "People", ""},
		{"MERGE", tables + row, "", op.TableUpsertMerge, "People", ""},
		{"POST", tables + row, "X-Http-Method", op.TableUpsertMerge, "People", ""},
		{"DELETE", tables + row, "If-Match", op.TableDelete, "People", ""},
		{"POST", tables + "/$batch", "", op.TableBatch, "", ""},
		{"POST", "http://127.0.0.1:10002/devstoreaccount1/$batch", "", op.TableBatch, "", ""},
		{"POST", tables + "/Tables", "", op.TableCreate, "", ""},
		{"GET", tables + "/Tables", "", op.TableList, "", ""},
		{"DELETE", tables + "/Tables('People')", "", op.TableDrop, "People", ""},
		{"GET", tables + "/People?comp=acl", "", op.TableGetACL, "People", ""},
		{"PUT", tables + "/People?comp=acl", "", op.TableSetACL, "People", ""},
		{"PUT", tables + "/?restype=service&comp=properties", "", op.TableSetProperties, "", ""},
		{"GET", tables + "/?restype=service&comp=stats", "", op.TableStats, "", ""},

		{"POST", queues + "/jobs/messages", "", op.QueuePut, "jobs", ""},
		{"GET", queues + "/jobs/messages", "", op.QueueGet, "jobs", ""},
		{"GET", queues + "/jobs/messages?peekonly=true", "", op.QueuePeek, "jobs", ""},
		{"PUT", queues + "/jobs/messages/id?popreceipt=x", "", op.QueueUpdate, "jobs", ""},
		{"DELETE", queues + "/jobs/messages/id?popreceipt=x", "", op.QueueDelete, "jobs", ""},
		{"DELETE", queues + "/jobs/messages", "", op.QueueClear, "jobs", ""},
		{"PUT", queues + "/jobs", "", op.QueueCreate, "jobs", ""},
		{"DELETE", queues + "/jobs", "", op.QueueDrop, "jobs", ""},
		{"GET", queues + "/jobs?comp=metadata", "", op.QueueGetMetadata, "jobs", ""},
		{"GET", queues + "/?comp=list", "", op.QueueList, "", ""},

		{"GET", blobs + "/box/a/b", "", op.BlobGet, "box", "a/b"},
		{"HEAD", blobs + "/box/a/b", "", op.BlobHead, "box", "a/b"},
		{"PUT", blobs + "/box/a/b", "", op.BlobPut, "box", "a/b"},
		{"PUT", blobs + "/box/a/b", "X-Ms-Copy-Source", op.BlobCopy, "box", "a/b"},
		{"PUT", blobs + "/box/a/b?comp=block&blockid=x", "", op.BlobPutBlock, "box", "a/b"},
		{"PUT", blobs + "/box/a/b?comp=blocklist", "", op.BlobPutBlockList, "box", "a/b"},
		{"PUT", blobs + "/box/a/b?comp=appendblock", "", op.BlobAppend, "box", "a/b"},
		{"DELETE", blobs + "/box/a/b", "", op.BlobDelete, "box", "a/b"},
		{"PUT", blobs + "/box/a/b?comp=lease", "", op.BlobLease, "box", "a/b"},
		{"PUT", blobs + "/box/a/b?comp=tags", "", op.BlobSetTags, "box", "a/b"},
		{"PUT", blobs + "/box/a/b?comp=tier", "", op.BlobSetTier, "box", "a/b"},
		{"GET", blobs + "/a", "", op.BlobGet, "$root", "a"},
		{"BREW", blobs + "/box/a/b", "", op.BlobOther, "box", "a/b"},
		{"GET", blobs + "/box?restype=container&comp=list", "", op.BlobList, "box", ""},
		{"PUT", blobs + "/box?restype=container", "", op.BlobCreateContainer, "box", ""},
		{"DELETE", blobs + "/box?restype=container", "", op.BlobDeleteContainer, "box", ""},
		{"GET", blobs + "/?comp=list", "", op.BlobListContainers, "", ""},

		{"GET", "http://127.0.0.1:4711/devstoreaccount1/box/a?x=1", "", op.BlobGet, "box", "a"},
		{"GET", "http://127.0.0.1:4712/devstoreaccount1/People()", "User-Agent", op.TableQuery, "People", ""},
		{"GET", "https://example.com/", "", op.Unknown, "", ""},
	}
	values := map[string]string{"If-Match": "*", "X-Http-Method": "MERGE", "X-Ms-Copy-Source": "https://x", "User-Agent": "azsdk-go-aztables/v1.4.1"}
	for _, tt := range tests {
		parser := request.Parser{Services: map[string]op.Service{"127.0.0.1:4711": op.Blob}}
		req := assert.Must(http.NewRequestWithContext(t.Context(), tt.method, tt.url, nil))(t)
		if tt.header != "" {
			req.Header.Set(tt.header, values[tt.header])
		}
		r, _ := parser.Parse(req)
		if r.Op != tt.op || r.Resource != tt.resource || r.Name != tt.name {
			t.Errorf("%s %s: %s %q %q, want %s %q %q", tt.method, tt.url, r.Op, r.Resource, r.Name, tt.op, tt.resource, tt.name)
		}
		if tt.op == op.TableGet && (len(r.Rows) != 1 || r.Rows[0] != keys.Key{Partition: "o'n", Row: "r"}) {
			t.Errorf("rows %v", r.Rows)
		}
	}
}

func TestTheAccountIsInTheHostOrInThePath(t *testing.T) {
	for _, tt := range []struct{ address, account, path, base string }{
		{"https://acct.table.core.windows.net/T(PartitionKey='a%2Fb')", "acct", "T(PartitionKey='a/b')", "https://acct.table.core.windows.net"},
		{"https://acct-secondary.table.core.windows.net/T", "acct", "T", "https://acct-secondary.table.core.windows.net"},
		{"https://acct.table.core.windows.net/acct", "acct", "acct", "https://acct.table.core.windows.net"},
		{"https://acct.table.core.windows.net", "acct", "", "https://acct.table.core.windows.net"},
		{"http://127.0.0.1:10002/acct/T", "acct", "T", "http://127.0.0.1:10002/acct"},
		{"http://127.0.0.1:10002/acct-secondary/T", "acct", "T", "http://127.0.0.1:10002/acct-secondary"},
		{"http://127.0.0.1:10002/acct/acct", "acct", "acct", "http://127.0.0.1:10002/acct"},
		{"http://127.0.0.1:10002/acct", "acct", "", "http://127.0.0.1:10002/acct"},
		{"http://[::1]:10002/acct/T", "acct", "T", "http://[::1]:10002/acct"},
		{"http://localhost:10002/account/T", "account", "T", "http://localhost:10002/account"},
		{"http://other.table.example/acct/T", "acct", "T", "http://other.table.example/acct"},
		{"http://other.table.example/T", "other", "T", "http://other.table.example"},
	} {
		req := assert.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, tt.address, nil))(t)
		parser := request.Parser{Account: "acct"}
		if r, _ := parser.Parse(req); r.Account != tt.account || r.Path != tt.path || r.Base != tt.base {
			t.Errorf("%s: %q %q %q", tt.address, r.Account, r.Path, r.Base)
		}
	}
}

func TestAParsedRequestBelongsToOneHTTPRequest(t *testing.T) {
	req := assert.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://acct.table.core.windows.net/People()", nil))(t)
	r, _ := new(request.Parser).Parse(req)
	bound := request.Bind(req, r)
	if got := request.From(bound); got == nil || got.Op != op.TableQuery || got.Result != r.Result {
		t.Errorf("bound: %+v", got)
	}
	other := assert.Must(http.NewRequestWithContext(bound.Context(), http.MethodGet, "https://acct.table.core.windows.net/Others()", nil))(t)
	assert.Equal(assert.Now(t), request.From(req), nil)
	assert.Equal(t, request.From(other), nil)
}
