package conformance

// https://learn.microsoft.com/rest/api/storageservices/copy-blob
// https://learn.microsoft.com/rest/api/storageservices/put-blob-from-url
func copyCases() []conversation {
	const from = "x-ms-copy-source: {BASE}/{C}/b"
	return []conversation{
		{"a blob is copied with its headers and metadata", []step{
			{"PUT /{C}/b", "hello", block + "|x-ms-blob-content-type: text/css|x-ms-meta-a: 1", "201"},
			{"PUT /{C}/to", "", from, "202 ~ X-Ms-Copy-Id: {=id} ~ X-Ms-Copy-Status: success"},
			{"GET /{C}/to", "", "", "200 ~ hello ~ Content-Type: text/css ~ X-Ms-Meta-A: 1 ~ X-Ms-Copy-Id: {id} ~ X-Ms-Copy-Status: success ~ X-Ms-Copy-Progress: 5/5"},
		}},
		{"a copy can have other metadata", []step{
			{"PUT /{C}/b", "hello", block + "|x-ms-meta-a: 1", "201"},
			{"PUT /{C}/to", "", from + "|x-ms-meta-b: 2", "202"},
			{"GET /{C}/to", "", "", "200 ~ X-Ms-Meta-B: 2 !~ X-Ms-Meta-A"},
		}},
		{"a copy is kept when its source is deleted", on(step{"PUT /{C}/to", "", from, "202"}, step{"DELETE /{C}/b", "", "", "202"}, step{"GET /{C}/to", "", "", "200 ~ 0123456789"})},
		{"a copy over a blob", on(upload("to", "old"), step{"PUT /{C}/to", "", from, "202"}, step{"GET /{C}/to", "", "", "200 ~ 0123456789"})},
		{"a copy if none exists", on(upload("to", "old"), step{"PUT /{C}/to", "", from + "|If-None-Match: *", "409 BlobAlreadyExists"})},
		{"a copy if the ETag of the source matches", on(step{"PUT /{C}/to", "", from + "|x-ms-source-if-match: {etag}", "202"})},
		{"a copy if the ETag of the source differs", on(step{"PUT /{C}/to", "", from + "|x-ms-source-if-match: " + stale, "412 SourceConditionNotMet"})},
		{"a copy if the ETag of the destination differs", on(upload("to", "old"), step{"PUT /{C}/to", "", from + "|If-Match: " + stale, "412 ConditionNotMet"})},
		{"a copy of an append blob is independent", growing(
			appends("one", "", "201"), step{"PUT /{C}/to", "", "x-ms-copy-source: {BASE}/{C}/a", "202"},
			step{"PUT /{C}/to?comp=appendblock", "two", "", "201 ~ X-Ms-Blob-Append-Offset: 3"}, step{"GET /{C}/a", "", "", "200 ~ one !~ two"},
		)},
	}
}

func copyRefusals() []conversation {
	return []conversation{
		one("a copy of a missing blob", "PUT /{C}/to", "x-ms-copy-source: {BASE}/{C}/none", "", "404 CannotVerifyCopySource"),
		one("a copy from no address", "PUT /{C}/to", "x-ms-copy-source: nowhere", "", "400 InvalidHeaderValue"),
		{"a copy to a missing container", on(step{"PUT /{C}none/to", "", "x-ms-copy-source: {BASE}/{C}/b", "404 ContainerNotFound"})},
		{"a completed copy cannot be aborted", on(
			step{"PUT /{C}/to", "", "x-ms-copy-source: {BASE}/{C}/b", "202 ~ X-Ms-Copy-Id: {=id}"},
			step{"PUT /{C}/to?comp=copy&copyid={id}", "", "x-ms-copy-action: abort", "409 NoPendingCopyOperation"},
		)},
		one("a copy that was never started is aborted", "PUT /{C}/to?comp=copy&copyid=copynotstarted", "x-ms-copy-action: abort", "", "400 InvalidQueryParameterValue"),
	}
}

// The headers of the requests that read a source by its URL. Their first step puts the source, "b".
var fromURL = []struct{ name, request, headers, want string }{
	{"a synchronous copy", "PUT /{C}/to", "x-ms-requires-sync: true", "202"},
	{"a put from a URL", "PUT /{C}/to", block, "201"},
	{"a block from a URL", "PUT /{C}/to?comp=block&blockid=AAAA", "", "201"},
}

// https://learn.microsoft.com/rest/api/storageservices/copy-blob-from-url
// https://learn.microsoft.com/rest/api/storageservices/put-blob-from-url
// https://learn.microsoft.com/rest/api/storageservices/put-block-from-url
func copySourceCases() []conversation {
	const at = "|x-ms-copy-source: {BASE}/{C}/b"
	var all []conversation
	for _, c := range fromURL {
		add := func(title, headers, want string) {
			all = append(all, conversation{c.name + " " + title, on(step{c.request, "", c.headers + headers, want})})
		}
		add("with a signature that permits reading", at+"?{READ}", c.want)
		add("without a signature", at, "401 CannotVerifyCopySource")
		add("with a signature that permits only writing", at+"?{WRITE}", "403 CannotVerifyCopySource")
		add("with a signature that has expired", at+"?{EXPIRED}", "403 CannotVerifyCopySource")
		add("with a wrong signature", at+"?{WRONG}", "403 CannotVerifyCopySource")
		add("with the MD5 of the source", at+"?{READ}|x-ms-source-content-md5: eB5eJF1ptWaXm4bijSPyxw==", c.want+" ~ Content-Md5: eB5eJF1ptWaXm4bijSPyxw==")
		add("with another MD5", at+"?{READ}|x-ms-source-content-md5: AAAAAAAAAAAAAAAAAAAAAA==", "400 Md5Mismatch")
		add("if the ETag of the source matches", at+"?{READ}|x-ms-source-if-match: {etag}", c.want)
		add("if the ETag of the source is another", at+"?{READ}|x-ms-source-if-match: "+stale, "412 SourceConditionNotMet")
		add("if the ETag of the source differs", at+"?{READ}|x-ms-source-if-none-match: {etag}", "412 CannotVerifyCopySource")
		all = append(all, conversation{c.name + " of a public blob", on(
			step{"PUT /{C}?restype=container&comp=acl", "", "x-ms-blob-public-access: blob", "200"},
			step{c.request, "", c.headers + at, c.want},
		)})
	}
	for _, c := range fromURL[:2] {
		tagged := func(title, headers, want string, tags step) conversation {
			return conversation{c.name + " " + title, []step{
				{"PUT /{C}/b", "x", block + "|x-ms-tags: color=blue", "201"},
				{c.request, "", c.headers + at + "?{READ}" + headers, want}, tags,
			}}
		}
		read := func(want string) step { return step{"GET /{C}/to?comp=tags", "", "", want} }
		all = append(all,
			tagged("with the tags of the source", "|x-ms-copy-source-tag-option: COPY", c.want, read("200 ~ <Key>color</Key><Value>blue</Value>")),
			tagged("without the tags of the source", "", c.want, read("200 !~ <Key>")),
			tagged("with other tags", "|x-ms-copy-source-tag-option: REPLACE|x-ms-tags: size=7", c.want, read("200 ~ <Key>size</Key><Value>7</Value> !~ color")),
			tagged("with an unknown option for tags", "|x-ms-copy-source-tag-option: KEEP", "400 InvalidHeaderValue", read("404 BlobNotFound")),
		)
	}
	return append(all,
		conversation{"a copy with a signature that permits only writing", on(step{"PUT /{C}/to", "", "x-ms-copy-source: {BASE}/{C}/b?{WRITE}", "403 CannotVerifyCopySource"})},
		conversation{"a copy by a signature does not read without one", on(step{"PUT /{C}/to", "", "Sas: c={C}&sp=rw|x-ms-copy-source: {BASE}/{C}/b", "401 CannotVerifyCopySource"})},
		conversation{"a copy by a signature reads with it", on(step{"PUT /{C}/to", "", "Sas: c={C}&sp=rw|x-ms-copy-source: {BASE}/{C}/b?{READ}", "202"})},
	)
}

// https://learn.microsoft.com/rest/api/storageservices/create-service-sas
func blobSignatureCases() []conversation {
	return []conversation{
		{"a signature of a container", on(step{"GET /{C}/b", "", "Sas: c={C}&sp=r", "200"})},
		{"a signature of a container that does not permit reading", on(step{"GET /{C}/b", "", "Sas: c={C}&sp=w", "403 AuthorizationPermissionMismatch"})},
		{"two signatures", on(step{"GET /{C}/b", "", "Sas: c={C}&sp=r&sig=AAAA", "403 AuthenticationFailed"})},
	}
}
