package conformance

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// blockList returns the document that commits blocks. Items are, for example, "Latest AAAA" and "Committed BBBB".
func blockList(items ...string) string {
	var b strings.Builder
	for _, item := range items {
		kind, id, _ := strings.Cut(item, " ")
		fmt.Fprintf(&b, "<%s>%s</%s>", kind, id, kind)
	}
	return `<?xml version="1.0" encoding="utf-8"?><BlockList>` + b.String() + "</BlockList>"
}

func stage(id, content string) step {
	return step{"PUT /{C}/b?comp=block&blockid=" + id, content, "", "201"}
}

func commit(want string, items ...string) step {
	return step{"PUT /{C}/b?comp=blocklist", blockList(items...), "", want}
}

// https://learn.microsoft.com/rest/api/storageservices/put-block
// https://learn.microsoft.com/rest/api/storageservices/put-block-list
// https://learn.microsoft.com/rest/api/storageservices/get-block-list
func blockCases() []conversation {
	read := func(want string) step { return step{"GET /{C}/b", "", "", want} }
	return []conversation{
		{"blocks become a blob in the order of the list", []step{
			stage("AAAA", "one"), stage("BBBB", "two"), read("404 BlobNotFound"),
			commit(`201 ~ Etag: "0x{*}"`, "Latest BBBB", "Latest AAAA"), read("200 ~ twoone !~ Content-Md5"),
		}},
		{"a block may be in the list twice", []step{stage("AAAA", "one"), commit("201", "Latest AAAA", "Latest AAAA"), read("200 ~ oneone")}},
		{"blocks that are not in the list are dropped", []step{
			stage("AAAA", "one"), stage("BBBB", "two"), commit("201", "Latest AAAA"),
			{"GET /{C}/b?comp=blocklist&blocklisttype=all", "", "", "200 ~ <CommittedBlocks><Block><Name>AAAA</Name><Size>3</Size></Block></CommittedBlocks> !~ BBBB"},
			commit("400 InvalidBlockList", "Latest BBBB"),
		}},
		{"committed blocks are used again", []step{
			stage("AAAA", "one"), stage("BBBB", "two"), commit("201", "Latest AAAA", "Latest BBBB"), stage("CCCC", "three"),
			commit("201", "Committed BBBB", "Uncommitted CCCC"), read("200 ~ twothree"),
		}},
		{"latest is the staged one", []step{stage("AAAA", "old"), commit("201", "Latest AAAA"), stage("AAAA", "new"), commit("201", "Latest AAAA"), read("200 ~ new")}},
		{"committed is not the staged one", []step{stage("AAAA", "old"), commit("201", "Latest AAAA"), stage("AAAA", "new"), commit("201", "Committed AAAA"), read("200 ~ old")}},
		{"a block is staged again", []step{stage("AAAA", "old"), stage("AAAA", "new"), commit("201", "Uncommitted AAAA"), read("200 ~ new")}},
		{"an empty list makes an empty blob", []step{commit("201"), read("200 ~ Content-Length: 0")}},
		{"staging leaves the blob as it is", on(stage("AAAA", "one"), read("200 ~ 0123456789 ~ Etag: {etag}"))},
		{"a put drops staged blocks", []step{stage("AAAA", "one"), upload("b", "whole"), commit("400 InvalidBlockList", "Uncommitted AAAA")}},
		{"the list of staged blocks", []step{
			stage("AAAA", "one"),
			{"GET /{C}/b?comp=blocklist&blocklisttype=uncommitted", "", "", "200 ~ <UncommittedBlocks><Block><Name>AAAA</Name><Size>3</Size></Block></UncommittedBlocks>"},
		}},
		{"the list of blocks contains the committed ones", []step{
			stage("AAAA", "one"), commit("201", "Latest AAAA"), stage("BBBB", "two"),
			{"GET /{C}/b?comp=blocklist", "", "", "200 ~ <Name>AAAA</Name> ~ X-Ms-Blob-Content-Length: 3 !~ BBBB"},
		}},
		{"a list has headers and metadata", []step{
			stage("AAAA", "one"),
			{"PUT /{C}/b?comp=blocklist", blockList("Latest AAAA"), "x-ms-blob-content-type: text/css|x-ms-meta-a: 1", "201"},
			{"HEAD /{C}/b", "", "", "200 ~ Content-Type: text/css ~ X-Ms-Meta-A: 1"},
		}},
		{"a list on a condition", on(
			stage("AAAA", "one"),
			step{"PUT /{C}/b?comp=blocklist", blockList("Latest AAAA"), "If-Match: " + stale, "412 ConditionNotMet"},
			step{"PUT /{C}/b?comp=blocklist", blockList("Latest AAAA"), "If-None-Match: *", "409 BlobAlreadyExists"},
			step{"PUT /{C}/b?comp=blocklist", blockList("Latest AAAA"), "If-Match: {etag}", "201"},
		)},
		{"a list on a condition by time for a blob with only staged blocks", []step{
			stage("AAAA", "one"),
			{"PUT /{C}/b?comp=blocklist", blockList("Latest AAAA"), "If-Modified-Since: " + future, "412 ConditionNotMet"},
			{"PUT /{C}/b?comp=blocklist", blockList("Latest AAAA"), "If-Modified-Since: " + past, "201"},
		}},
		{"blobs with only staged blocks are listed on request", []step{
			stage("AAAA", "one"),
			{"GET /{C}?restype=container&comp=list", "", "", "200 !~ <Name>b</Name>"},
			{"GET /{C}?restype=container&comp=list&include=uncommittedblobs", "", "", "200 ~ <Name>b</Name>"},
		}},
	}
}

func blockRefusals() []conversation {
	long := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 65)))
	return []conversation{
		one("a block without an id", "PUT /{C}/b?comp=block", "", "x", "400 MissingRequiredQueryParameter"),
		one("a block id that is not base64", "PUT /{C}/b?comp=block&blockid=A", "", "x", "400 InvalidQueryParameterValue"),
		one("a block id of 65 bytes", "PUT /{C}/b?comp=block&blockid="+strings.ReplaceAll(long, "=", "%3D"), "", "x", "400 OutOfRangeInput"),
		{"block ids of two lengths", []step{stage("AAAA", "one"), {"PUT /{C}/b?comp=block&blockid=AAAAAAAA", "x", "", "400 InvalidBlobOrBlock"}}},
		one("an empty block", "PUT /{C}/b?comp=block&blockid=AAAA", "", "", "400 InvalidHeaderValue"),
		one("a block with another MD5", "PUT /{C}/b?comp=block&blockid=AAAA", "Content-MD5: AAAAAAAAAAAAAAAAAAAAAA==", "x", "400 Md5Mismatch"),
		one("a block in a missing container", "PUT /{C}none/b?comp=block&blockid=AAAA", "", "x", "404 ContainerNotFound"),
		{"a list with a missing block", []step{commit("400 InvalidBlockList", "Latest AAAA")}},
		{"a list of a committed block that is only staged", []step{stage("AAAA", "one"), commit("400 InvalidBlockList", "Committed AAAA")}},
		{"a list of a staged block that is committed", []step{stage("AAAA", "one"), commit("201", "Latest AAAA"), commit("400 InvalidBlockList", "Uncommitted AAAA")}},
		{"a list of an unknown kind", []step{stage("AAAA", "one"), commit("400 InvalidXmlDocument", "Newest AAAA")}},
		one("a list that is not XML", "PUT /{C}/b?comp=blocklist", "", "AAAA", "400 InvalidXmlDocument"),
		one("the list of a missing blob", "GET /{C}/none?comp=blocklist", "", "", "404 BlobNotFound"),
		{"an unknown list of blocks", on(step{"GET /{C}/b?comp=blocklist&blocklisttype=some", "", "", "400 InvalidQueryParameterValue"})},
	}
}

// growing returns steps that first create an empty append blob "a".
func growing(rest ...step) []step {
	return append([]step{{"PUT /{C}/a", "", grow, "201 ~ Etag: {=etag}"}}, rest...)
}

func appends(content, headers, want string) step {
	return step{"PUT /{C}/a?comp=appendblock", content, headers, want}
}

// https://learn.microsoft.com/rest/api/storageservices/append-block
func appendCases() []conversation {
	return []conversation{
		{"blocks are appended", growing(
			appends("one", "", "201 ~ X-Ms-Blob-Append-Offset: 0 ~ X-Ms-Blob-Committed-Block-Count: 1 !~ {etag}"),
			appends("two", "", "201 ~ X-Ms-Blob-Append-Offset: 3 ~ X-Ms-Blob-Committed-Block-Count: 2"),
			step{"GET /{C}/a", "", "", "200 ~ onetwo ~ X-Ms-Blob-Type: AppendBlob ~ X-Ms-Blob-Committed-Block-Count: 2"},
		)},
		{"an append at the end", growing(appends("one", "x-ms-blob-condition-appendpos: 0", "201"), appends("two", "x-ms-blob-condition-appendpos: 3", "201"))},
		{"an append not at the end", growing(appends("one", "x-ms-blob-condition-appendpos: 1", "412 AppendPositionConditionNotMet"))},
		{"an append up to a size", growing(appends("12345", "x-ms-blob-condition-maxsize: 5", "201"), appends("6", "x-ms-blob-condition-maxsize: 5", "412 MaxBlobSizeConditionNotMet"))},
		{"an append if the ETag matches", growing(appends("one", "If-Match: {etag}", "201"))},
		{"an append if the ETag differs", growing(appends("one", "If-Match: "+stale, "412 ConditionNotMet"))},
		{"an append if none exists", growing(appends("one", "If-None-Match: *", "412 ConditionNotMet"))},
		{"an append blob is replaced", growing(appends("one", "", "201"), step{"PUT /{C}/a", "", grow, "201"}, step{"GET /{C}/a", "", "", "200 ~ Content-Length: 0"})},
		{"an append blob is created if none exists", growing(step{"PUT /{C}/a", "", grow + "|If-None-Match: *", "409 BlobAlreadyExists"})},
		{"a range of an append blob", growing(appends("one", "", "201"), appends("two", "", "201"), step{"GET /{C}/a", "", "Range: bytes=2-4", "206 ~ etw"})},
		{"a block with its MD5", growing(appends("hello", "Content-MD5: XUFAKrxLKna5cZ2REBfFkg==", "201"))},
		{"a block of 4 MiB", growing(appends(strings.Repeat("x", 4<<20), "", "201"))},
		{"a sealed blob", growing(
			appends("one", "", "201"), step{"PUT /{C}/a?comp=seal", "", "", "200 ~ X-Ms-Blob-Sealed: true"},
			appends("two", "", "409 BlobIsSealed"), step{"GET /{C}/a", "", "", "200 ~ one"},
		)},
	}
}

func appendRefusals() []conversation {
	return []conversation{
		one("an append to a missing blob", "PUT /{C}/a?comp=appendblock", "", "x", "404 BlobNotFound"),
		{"an append to a block blob", on(step{"PUT /{C}/b?comp=appendblock", "x", "", "409 InvalidBlobType"})},
		{"an empty append", growing(appends("", "", "400 InvalidHeaderValue"))},
		{"an append of more than 4 MiB", growing(appends(strings.Repeat("x", 4<<20+1), "", "413 RequestBodyTooLarge"))},
		{"an append with another MD5", growing(appends("x", "Content-MD5: AAAAAAAAAAAAAAAAAAAAAA==", "400 Md5Mismatch"))},
		{"an append position that is not a number", growing(appends("x", "x-ms-blob-condition-appendpos: end", "400 InvalidHeaderValue"))},
		one("an append blob with content", "PUT /{C}/a", grow, "x", "400 InvalidHeaderValue"),
		{"a block blob over an append blob", growing(step{"PUT /{C}/a", "x", block, "409 InvalidBlobType"})},
		{"blocks on an append blob", growing(step{"PUT /{C}/a?comp=block&blockid=AAAA", "x", "", "409 InvalidBlobType"})},
		{"the list of blocks of an append blob", growing(step{"GET /{C}/a?comp=blocklist", "", "", "409 InvalidBlobType"})},
	}
}
