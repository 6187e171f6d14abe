package conformance

import (
	"fmt"
	"strings"
)

// blobBatch returns the body of a batch of requests such as "DELETE /{C}/b", each signed with the SAS {DELETE}.
func blobBatch(requests ...string) string {
	var b strings.Builder
	for i, r := range requests {
		method, target, _ := strings.Cut(r, " ")
		target, headers, _ := strings.Cut(target, "|")
		if headers != "" {
			headers = "\n" + strings.ReplaceAll(headers, "|", "\n")
		}
		separator := "?"
		if strings.Contains(target, "?") {
			separator = "&"
		}
		fmt.Fprintf(&b, "--batch_1\nContent-Type: application/http\nContent-Transfer-Encoding: binary\nContent-ID: %d\n\n%s /devstoreaccount1%s%s{DELETE} HTTP/1.1%s\nContent-Length: 0\n\n\n",
			i, method, target, separator, headers)
	}
	return b.String() + "--batch_1--\n"
}

// https://learn.microsoft.com/rest/api/storageservices/blob-batch
func blobBatchCases() []conversation {
	const kind = "Content-Type: multipart/mixed; boundary=batch_1"
	post := func(body, want string) step { return step{"POST /?comp=batch", body, kind, want} }
	three := func(rest ...step) []step {
		return append([]step{upload("a", "1"), upload("b", "2"), upload("c", "3")}, rest...)
	}
	many := make([]string, 257)
	for i := range many {
		many[i] = "DELETE /{C}/a"
	}
	gone := func(name string) step { return step{"GET /{C}/" + name, "", "", "404 BlobNotFound"} }
	return []conversation{
		{"a batch deletes blobs", three(
			post(blobBatch("DELETE /{C}/a", "DELETE /{C}/b"), "202 ~ Content-Type: multipart/mixed; boundary={*} ~ Content-ID: 0 ~ Content-ID: 1 ~ HTTP/1.1 202 Accepted !~ Content-ID: 2"),
			gone("a"), gone("b"), step{"GET /{C}/c", "", "", "200"},
		)},
		{"a batch is not atomic", three(
			post(blobBatch("DELETE /{C}/a", "DELETE /{C}/none", "DELETE /{C}/c"), "202 BlobNotFound ~ HTTP/1.1 202 Accepted ~ HTTP/1.1 404 ~ <Code>BlobNotFound</Code>"),
			gone("a"), gone("c"), step{"GET /{C}/b", "", "", "200"},
		)},
		{"a batch sets tiers", three(
			post(blobBatch("PUT /{C}/a?comp=tier|x-ms-access-tier: Cool", "PUT /{C}/b?comp=tier|x-ms-access-tier: Cool"), "202 ~ HTTP/1.1 200 OK"),
			step{"HEAD /{C}/b", "", "", "200 ~ X-Ms-Access-Tier: Cool"},
		)},
		{"a batch for a container", three(
			step{"POST /{C}?restype=container&comp=batch", blobBatch("DELETE /{C}/a"), kind, "202 ~ HTTP/1.1 202 Accepted"}, gone("a"),
		)},
		{"a batch for another container", three(
			step{"POST /{C}?restype=container&comp=batch", blobBatch("DELETE /{C}none/a"), kind, "202 InvalidInput ~ HTTP/1.1 400"},
		)},
		{"the parts of a batch need permissions", three(
			post(strings.ReplaceAll(blobBatch("DELETE /{C}/a"), "{DELETE}", "{READ}"), "202 AuthorizationPermissionMismatch ~ HTTP/1.1 403"),
			step{"GET /{C}/a", "", "", "200"},
		)},
		{"a batch of several operations", three(post(blobBatch("DELETE /{C}/a", "PUT /{C}/b?comp=tier|x-ms-access-tier: Cool"), "202 AllBatchSubRequestsShouldBeSameApi ~ HTTP/1.1 400 !~ Content-ID"), step{"GET /{C}/a", "", "", "200"})},
		{"a batch of another operation", three(post(blobBatch("GET /{C}/a"), "202 InvalidInput ~ HTTP/1.1 400 !~ Content-ID"))},
		{"a batch of 257", three(post(blobBatch(many...), "202 ExceedsMaxBatchRequestCount ~ HTTP/1.1 400 !~ Content-ID"), step{"GET /{C}/a", "", "", "200"})},
		{"a batch that is not multipart", []step{{"POST /?comp=batch", "--", "Content-Type: text/plain", "202 InvalidInput ~ HTTP/1.1 400 !~ Content-ID"}}},
	}
}

// https://learn.microsoft.com/rest/api/storageservices/snapshot-blob
// https://learn.microsoft.com/rest/api/storageservices/delete-blob
func snapshotCases() []conversation {
	take := step{"PUT /{C}/b?comp=snapshot", "", "", "201 ~ X-Ms-Snapshot: {=id} ~ Etag: {etag} ~ Last-Modified: {*} GMT"}
	const list = "GET /{C}?restype=container&comp=list&include=snapshots"
	with := func(rest ...step) []step { return append(on(take), rest...) }
	return []conversation{
		{"a snapshot keeps the content", with(
			step{"PUT /{C}/b", "new", block, "201"},
			step{"GET /{C}/b?snapshot={id}", "", "", "200 ~ 0123456789 ~ Etag: {etag}"},
			step{"HEAD /{C}/b?snapshot={id}", "", "", "200 ~ Content-Length: 10"},
			step{"GET /{C}/b", "", "", "200 ~ new"},
		)},
		{"a snapshot with metadata has its own ETag", on(
			step{"PUT /{C}/b?comp=snapshot", "", "x-ms-meta-a: 1", "201 ~ X-Ms-Snapshot: {=id} !~ {etag}"},
			step{"HEAD /{C}/b?snapshot={id}", "", "", "200 ~ X-Ms-Meta-A: 1"},
			step{"HEAD /{C}/b", "", "", "200 ~ Etag: {etag} !~ X-Ms-Meta-A"},
		)},
		{"a snapshot on a condition", on(
			step{"PUT /{C}/b?comp=snapshot", "", "If-Match: " + stale, "412 ConditionNotMet"},
			step{"PUT /{C}/b?comp=snapshot", "", "If-None-Match: {etag}", "412 ConditionNotMet"},
			step{"PUT /{C}/b?comp=snapshot", "", "If-Modified-Since: " + future, "412 ConditionNotMet"},
		)},
		{"a snapshot needs no lease", held(
			step{"PUT /{C}/b?comp=snapshot", "", "", "201"}, step{"PUT /{C}/b?comp=snapshot", "", other, "412 LeaseIdMismatchWithBlobOperation"},
			step{"PUT /{C}/b?comp=snapshot", "", id, "201"},
		)},
		one("a snapshot of a missing blob", "PUT /{C}/none?comp=snapshot", "", "", "404 BlobNotFound"),
		{"a snapshot of a snapshot", with(step{"PUT /{C}/b?comp=snapshot&snapshot={id}", "", "", "400 InvalidQueryParameterValue"})},
		{"snapshots are listed before their blob", with(
			step{list, "", "", "200 ~ <Name>b</Name><Snapshot>{id}</Snapshot> ~ </Blob><Blob><Name>b</Name><Properties>"},
			step{"GET /{C}?restype=container&comp=list", "", "", "200 ~ <Name>b</Name> !~ <Snapshot>"},
			step{list + "&maxresults=1", "", "", "200 ~ <Snapshot>{id}</Snapshot> ~ <NextMarker>{=marker}</NextMarker>"},
			step{list + "&maxresults=1&marker={marker}", "", "", "200 ~ <Name>b</Name> !~ <Snapshot>"},
		)},
		{"a blob with snapshots is not deleted", with(step{"DELETE /{C}/b", "", "", "409 SnapshotsPresent"})},
		{"the snapshots of a blob are deleted with it", with(step{"DELETE /{C}/b", "", "x-ms-delete-snapshots: include", "202"}, step{"GET /{C}/b?snapshot={id}", "", "", "404 BlobNotFound"})},
		{"only the snapshots of a blob are deleted", with(
			step{"DELETE /{C}/b", "", "x-ms-delete-snapshots: only", "202"}, step{"GET /{C}/b?snapshot={id}", "", "", "404 BlobNotFound"}, step{"GET /{C}/b", "", "", "200"},
		)},
		{"one snapshot is deleted", with(step{"DELETE /{C}/b?snapshot={id}", "", "", "202"}, step{"GET /{C}/b?snapshot={id}", "", "", "404 BlobNotFound"}, step{"DELETE /{C}/b", "", "", "202"})},
		{"one snapshot and its snapshots are deleted", with(step{"DELETE /{C}/b?snapshot={id}", "", "x-ms-delete-snapshots: include", "400 InvalidHeaderValue"})},
		{"a snapshot is not changed", with(step{"PUT /{C}/b?comp=metadata&snapshot={id}", "", "x-ms-meta-a: 1", "400 InvalidQueryParameterValue"})},
		{"a snapshot is copied over its blob", with(
			step{"PUT /{C}/b", "new", block, "201"},
			step{"PUT /{C}/b", "", "x-ms-copy-source: {BASE}/{C}/b?snapshot={id}", "202"}, step{"GET /{C}/b", "", "", "200 ~ 0123456789"},
		)},
		{"the snapshot of a blob is read by a signature for its container", with(step{"GET /{C}/b?snapshot={id}", "", "Sas: c={C}&sp=r", "200 ~ 0123456789"})},
	}
}
