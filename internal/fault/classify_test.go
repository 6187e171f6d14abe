package fault_test

import (
	"net/http"
	"testing"

	"github.com/azpatterns/azpatterns/internal/fault"
)

func TestOperationsAreNamedByTheirRequests(t *testing.T) {
	const (
		tables = "https://acct.table.core.windows.net"
		queues = "http://127.0.0.1:10001/devstoreaccount1"
		blobs  = "https://acct.blob.core.windows.net"
		row    = "/People(PartitionKey='o''n',RowKey='r')"
	)
	tests := []struct {
		method, url, header string
		op                  fault.Op
		resource, name      string
	}{
		{"GET", tables + row, "", fault.TableGet, "People", ""},
		{"GET", tables + "/People()", "", fault.TableQuery, "People", ""},
		{"GET", tables + "/People", "", fault.TableQuery, "People", ""},
		{"POST", tables + "/People", "", fault.TableInsert, "People", ""},
		{"PUT", tables + row, "If-Match", fault.TableReplace, "People", ""},
		{"PUT", tables + row, "", fault.TableUpsertReplace, "People", ""},
		{"PATCH", tables + row, "If-Match", fault.TableMerge, "People", ""},
		{"MERGE", tables + row, "", fault.TableUpsertMerge, "People", ""},
		{"POST", tables + row, "X-Http-Method", fault.TableUpsertMerge, "People", ""},
		{"DELETE", tables + row, "If-Match", fault.TableDelete, "People", ""},
		{"POST", tables + "/$batch", "", fault.TableBatch, "", ""},
		{"POST", "http://127.0.0.1:10002/devstoreaccount1/$batch", "", fault.TableBatch, "", ""},
		{"POST", tables + "/Tables", "", fault.TableCreate, "", ""},
		{"GET", tables + "/Tables", "", fault.TableList, "", ""},
		{"DELETE", tables + "/Tables('People')", "", fault.TableDrop, "People", ""},
		{"GET", tables + "/People?comp=acl", "", fault.TableGetACL, "People", ""},
		{"PUT", tables + "/People?comp=acl", "", fault.TableSetACL, "People", ""},
		{"PUT", tables + "/?restype=service&comp=properties", "", fault.TableSetProperties, "", ""},
		{"GET", tables + "/?restype=service&comp=stats", "", fault.TableStats, "", ""},

		{"POST", queues + "/jobs/messages", "", fault.QueuePut, "jobs", ""},
		{"GET", queues + "/jobs/messages", "", fault.QueueGet, "jobs", ""},
		{"GET", queues + "/jobs/messages?peekonly=true", "", fault.QueuePeek, "jobs", ""},
		{"PUT", queues + "/jobs/messages/id?popreceipt=x", "", fault.QueueUpdate, "jobs", ""},
		{"DELETE", queues + "/jobs/messages/id?popreceipt=x", "", fault.QueueDelete, "jobs", ""},
		{"DELETE", queues + "/jobs/messages", "", fault.QueueClear, "jobs", ""},
		{"PUT", queues + "/jobs", "", fault.QueueCreate, "jobs", ""},
		{"DELETE", queues + "/jobs", "", fault.QueueDrop, "jobs", ""},
		{"GET", queues + "/jobs?comp=metadata", "", fault.QueueGetMetadata, "jobs", ""},
		{"GET", queues + "/?comp=list", "", fault.QueueList, "", ""},

		{"GET", blobs + "/box/a/b", "", fault.BlobGet, "box", "a/b"},
		{"HEAD", blobs + "/box/a/b", "", fault.BlobHead, "box", "a/b"},
		{"PUT", blobs + "/box/a/b", "", fault.BlobPut, "box", "a/b"},
		{"PUT", blobs + "/box/a/b", "X-Ms-Copy-Source", fault.BlobCopy, "box", "a/b"},
		{"PUT", blobs + "/box/a/b?comp=block&blockid=x", "", fault.BlobPutBlock, "box", "a/b"},
		{"PUT", blobs + "/box/a/b?comp=blocklist", "", fault.BlobPutBlockList, "box", "a/b"},
		{"PUT", blobs + "/box/a/b?comp=appendblock", "", fault.BlobAppend, "box", "a/b"},
		{"DELETE", blobs + "/box/a/b", "", fault.BlobDelete, "box", "a/b"},
		{"PUT", blobs + "/box/a/b?comp=lease", "", fault.BlobLease, "box", "a/b"},
		{"GET", blobs + "/box?restype=container&comp=list", "", fault.BlobList, "box", ""},
		{"PUT", blobs + "/box?restype=container", "", fault.BlobCreateContainer, "box", ""},
		{"DELETE", blobs + "/box?restype=container", "", fault.BlobDeleteContainer, "box", ""},
		{"GET", blobs + "/?comp=list", "", fault.BlobListContainers, "", ""},

		{"GET", "http://127.0.0.1:4711/devstoreaccount1/box/a?x=1", "", fault.BlobGet, "box", "a"},
		{"GET", "http://127.0.0.1:4712/devstoreaccount1/People()", "User-Agent", fault.TableQuery, "People", ""},
		{"GET", "https://example.com/", "", fault.Unknown, "", ""},
	}
	values := map[string]string{"If-Match": "*", "X-Http-Method": "MERGE", "X-Ms-Copy-Source": "https://x", "User-Agent": "azsdk-go-aztables/v1.4.1"}
	for _, tt := range tests {
		tr := fault.Wrap(&service{}, &fault.Options{Services: map[string]fault.Service{"127.0.0.1:4711": fault.Blob}})
		req, err := http.NewRequestWithContext(t.Context(), tt.method, tt.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.header != "" {
			req.Header.Set(tt.header, values[tt.header])
		}
		if _, err := tr.Do(req); err != nil {
			t.Fatal(err)
		}
		q := tr.Log()[0]
		if q.Op != tt.op || q.Resource != tt.resource || q.Name != tt.name {
			t.Errorf("%s %s: %s %q %q, want %s %q %q", tt.method, tt.url, q.Op, q.Resource, q.Name, tt.op, tt.resource, tt.name)
		}
		if tt.op == fault.TableGet && (len(q.Rows) != 1 || q.Rows[0] != fault.Key{Partition: "o'n", Row: "r"}) {
			t.Errorf("rows %v", q.Rows)
		}
	}
}
