package conformance

import "strings"

// https://learn.microsoft.com/rest/api/storageservices/put-blob
// https://learn.microsoft.com/rest/api/storageservices/get-blob
func putBlobCases() []conversation {
	put := func(name, headers, want string) conversation {
		return one(name, "PUT /{C}/new", headers, "x", want)
	}
	return []conversation{
		{"a blob is read as it was written", []step{
			{"PUT /{C}/b", "hello", block + "|Content-Type: text/plain", `201 ~ Etag: "0x{*}" ~ Last-Modified: {*} GMT ~ Content-Md5: XUFAKrxLKna5cZ2REBfFkg== ~ X-Ms-Request-Server-Encrypted: true`},
			{"GET /{C}/b", "", "", `200 ~ hello ~ Content-Length: 5 ~ Content-Type: text/plain ~ Content-Md5: XUFAKrxLKna5cZ2REBfFkg== ~ Accept-Ranges: bytes ~ X-Ms-Blob-Type: BlockBlob ~ X-Ms-Lease-State: available ~ X-Ms-Lease-Status: unlocked ~ X-Ms-Creation-Time: ~ Etag: "0x{*}"`},
			{"HEAD /{C}/b", "", "", "200 ~ Content-Length: 5 ~ Content-Type: text/plain ~ X-Ms-Blob-Type: BlockBlob ~ X-Ms-Access-Tier: Hot ~ X-Ms-Access-Tier-Inferred: true !~ hello"},
		}},
		{"an empty blob", []step{{"PUT /{C}/b", "", block, "201"}, {"GET /{C}/b", "", "", "200 ~ Content-Length: 0"}}},
		{"a blob is overwritten", append(on(), step{"PUT /{C}/b", "new", block, "201 !~ {etag}"}, step{"GET /{C}/b", "", "", "200 ~ new !~ 0123"})},
		{"a blob has a default content type", []step{{"PUT /{C}/b", "x", block, "201"}, {"HEAD /{C}/b", "", "", "200 ~ Content-Type: application/octet-stream"}}},
		{"a blob keeps its headers", []step{
			{"PUT /{C}/b", "x", block + "|x-ms-blob-content-type: text/css|x-ms-blob-content-encoding: br|x-ms-blob-content-language: fr|x-ms-blob-cache-control: no-store|x-ms-blob-content-disposition: inline", "201"},
			{"GET /{C}/b", "", "", "200 ~ Content-Type: text/css ~ Content-Encoding: br ~ Content-Language: fr ~ Cache-Control: no-store ~ Content-Disposition: inline"},
		}},
		{"a blob keeps its metadata", []step{{"PUT /{C}/b", "x", block + "|x-ms-meta-color: blue", "201"}, {"GET /{C}/b", "", "", "200 ~ X-Ms-Meta-Color: blue"}}},
		{"a blob keeps its tier", []step{{"PUT /{C}/b", "x", block + "|x-ms-access-tier: Cool", "201"}, {"HEAD /{C}/b", "", "", "200 ~ X-Ms-Access-Tier: Cool !~ Tier-Inferred"}}},
		put("a blob without a type", "", "400 MissingRequiredHeader"),
		put("a blob of an unknown type", "x-ms-blob-type: Blob", "400 InvalidHeaderValue"),
		put("a blob of an unknown tier", block+"|x-ms-access-tier: Warm", "400 InvalidHeaderValue"),
		put("a blob with bad metadata", block+"|x-ms-meta-a-b: 1", "400 InvalidMetadata"),
		put("a blob with too much metadata", block+"|x-ms-meta-a: "+strings.Repeat("v", 8<<10), "400 MetadataTooLarge"),
		one("a blob in a missing container", "PUT /{C}none/b", block, "x", "404 ContainerNotFound"),
		one("a missing blob", "GET /{C}/none", "", "", "404 BlobNotFound"),
		one("the properties of a missing blob", "HEAD /{C}/none", "", "", "404 BlobNotFound"),
		one("a blob of a missing container", "GET /{C}none/b", "", "", "404 ContainerNotFound"),
		one("a blob with another method", "PATCH /{C}/b", "", "", "405 UnsupportedHttpVerb"),
		one("an unknown operation of a blob", "PUT /{C}/b?comp=colour", "", "", "400 InvalidQueryParameterValue"),
		one("no credential", "GET /{C}/b", "Authorization: none", "", "401 NoAuthenticationInformation"),
		one("a wrong signature", "GET /{C}/b", "Authorization: SharedKey devstoreaccount1:AAAA", "", "403 AuthenticationFailed"),
	}
}

func checksumCases() []conversation {
	const zero, good = "AAAAAAAAAAAAAAAAAAAAAA==", "XUFAKrxLKna5cZ2REBfFkg==" // good is the MD5 of "hello"
	put := func(name, headers, want string) conversation {
		return one(name, "PUT /{C}/b", block+"|"+headers, "hello", want)
	}
	return []conversation{
		put("a body with its MD5", "Content-MD5: "+good, "201"),
		put("a body with another MD5", "Content-MD5: "+zero, "400 Md5Mismatch"),
		put("a body with an invalid MD5", "Content-MD5: xyz", "400 InvalidMd5"),
		put("a body with its MD5 to keep", "x-ms-blob-content-md5: "+good, "201"),
		put("a body with another MD5 to keep", "x-ms-blob-content-md5: "+zero, "400 Md5Mismatch"),
		put("a body with another CRC64", "x-ms-content-crc64: AAAAAAAAAAA=", "400 Crc64Mismatch"),
		{"a range with its MD5", on(step{"GET /{C}/b", "", "Range: bytes=0-3|x-ms-range-get-content-md5: true", "206 ~ Content-Md5: 62L2uTBttXXC1ZaxJ5YnpA=="})},
		{"the MD5 of more than 4 MiB of a range", []step{
			upload("b", strings.Repeat("x", 4<<20+1)),
			{"GET /{C}/b", "", "Range: bytes=0-4194304|x-ms-range-get-content-md5: true", "400 InvalidHeaderValue"},
		}},
		{"the MD5 of a range without a range", on(step{"GET /{C}/b", "", "x-ms-range-get-content-md5: true", "400 MissingRequiredHeader"})},
	}
}

func blobNameCases() []conversation {
	var all []conversation
	for _, c := range []struct{ title, path, listed string }{
		{"with slashes", "a/b/c.txt", "a/b/c.txt"}, {"with a blank", "a%20b", "a b"}, {"with a percent", "100%25", "100%"}, {"with a plus", "a%2Bb", "a+b"},
		{"beyond ASCII", "%C3%A9%F0%9F%98%80", "é😀"}, {"with marks", "a%23b%3Fc", "a#b?c"}, {"with an ampersand", "a%26b", "a&amp;b"},
		{"of 1,024 letters", strings.Repeat("n", 1024), strings.Repeat("n", 1024)},
	} {
		all = append(all, conversation{"a blob name " + c.title, []step{
			{"PUT /{C}/" + c.path, "hello", block, "201"},
			{"GET /{C}/" + c.path, "", "", "200 ~ hello"},
			{"GET /{C}?restype=container&comp=list", "", "", "200 ~ <Name>" + c.listed + "</Name>"},
		}})
	}
	return append(all,
		conversation{"a blob name with a backslash", []step{
			{`PUT /{C}/a\b`, "hello", block, "201"}, {"GET /{C}/a/b", "", "", "200 ~ hello"}, {`GET /{C}/a\b`, "", "", "200 ~ hello"},
			{"GET /{C}?restype=container&comp=list", "", "", "200 ~ <Name>a/b</Name>"},
		}},
		conversation{"blob names have cases", []step{upload("b", "small"), upload("B", "large"), {"GET /{C}/b", "", "", "200 ~ small"}}},
		one("a blob name of 1,025 letters", "PUT /{C}/"+strings.Repeat("n", 1025), block, "x", "400 OutOfRangeInput"),
		one("a blob name of 255 parts", "PUT /{C}/"+strings.Repeat("n/", 254)+"n", block, "x", "400 InvalidResourceName"),
	)
}

// https://learn.microsoft.com/rest/api/storageservices/specifying-the-range-header-for-blob-service-operations
func rangeCases() []conversation {
	get := func(name, header, want string) conversation {
		return conversation{name, on(step{"GET /{C}/b", "", header, want})}
	}
	return []conversation{
		get("a range", "Range: bytes=2-4", "206 ~ 234 ~ Content-Length: 3 ~ Content-Range: bytes 2-4/10"),
		get("a range by the other header", "x-ms-range: bytes=2-4", "206 ~ 234 ~ Content-Range: bytes 2-4/10"),
		get("the other header wins", "Range: bytes=0-1|x-ms-range: bytes=2-4", "206 ~ Content-Range: bytes 2-4/10"),
		get("a range without end", "Range: bytes=7-", "206 ~ 789 ~ Content-Range: bytes 7-9/10"),
		get("a range of more than there is", "Range: bytes=8-99", "206 ~ Content-Range: bytes 8-9/10"),
		get("a range of all", "Range: bytes=0-9", "206 ~ 0123456789 ~ Content-Range: bytes 0-9/10"),
		get("a range after the end", "Range: bytes=10-", "416 InvalidRange"),
		get("a range far after the end", "Range: bytes=100-200", "416 InvalidRange"),
		get("a range that begins before the blob", "x-ms-range: bytes=-1-", "200 ~ 0123456789"),
		get("a range backwards", "Range: bytes=4-2", "200 ~ 0123456789"),
		get("a range of another unit", "Range: lines=1-2", "200 ~ 0123456789"),
		{"a range of an empty blob", []step{{"PUT /{C}/b", "", block, "201"}, {"GET /{C}/b", "", "Range: bytes=0-", "416 InvalidRange"}}},
	}
}

// https://learn.microsoft.com/rest/api/storageservices/specifying-conditional-headers-for-blob-service-operations
func blobConditionCases() []conversation {
	var all []conversation
	add := func(title, method, header, want string) {
		body, more := "", ""
		if method == "PUT" {
			body, more = "new", block+"|"
		}
		all = append(all, conversation{title, on(step{method + " /{C}/b", body, more + header, want})})
	}
	for method, ok := range map[string]string{"GET": "200", "HEAD": "200", "PUT": "201", "DELETE": "202"} {
		failed, unchanged := "412 ConditionNotMet", "412 ConditionNotMet"
		if method == "GET" || method == "HEAD" {
			unchanged = "304 ConditionNotMet"
		}
		add(method+" if the ETag is this", method, "If-Match: {etag}", ok)
		add(method+" if the ETag is any", method, "If-Match: *", ok)
		add(method+" if the ETag is another", method, "If-Match: "+stale, failed)
		add(method+" if the ETag is not this", method, "If-None-Match: {etag}", unchanged)
		add(method+" if the ETag is not another", method, "If-None-Match: "+stale, ok)
		add(method+" if changed since the past", method, "If-Modified-Since: "+past, ok)
		add(method+" if changed since the future", method, "If-Modified-Since: "+future, unchanged)
		add(method+" if unchanged since the future", method, "If-Unmodified-Since: "+future, ok)
		add(method+" if unchanged since the past", method, "If-Unmodified-Since: "+past, failed)
		add(method+" with an invalid time", method, "If-Modified-Since: yesterday", "400 InvalidHeaderValue")
	}
	add("PUT if none exists", "PUT", "If-None-Match: *", "409 BlobAlreadyExists")
	return append(all,
		one("create if none exists", "PUT /{C}/b", block+"|If-None-Match: *", "x", "201"),
		one("replace if there is one", "PUT /{C}/b", block+"|If-Match: *", "x", "412 ConditionNotMet"),
		conversation{"the reply for an unchanged blob has its ETag", on(step{"GET /{C}/b", "", "If-None-Match: {etag}", "304 ConditionNotMet ~ Etag: {etag}"})},
	)
}

// https://learn.microsoft.com/rest/api/storageservices/set-blob-properties
// https://learn.microsoft.com/rest/api/storageservices/set-blob-metadata
// https://learn.microsoft.com/rest/api/storageservices/set-blob-tier
func blobSettingCases() []conversation {
	return []conversation{
		{"setting metadata replaces it and changes the ETag", on(
			step{"PUT /{C}/b?comp=metadata", "", "x-ms-meta-a: 1", `200 ~ Etag: "0x{*}" !~ {etag}`},
			step{"PUT /{C}/b?comp=metadata", "", "x-ms-meta-b: 2", "200"},
			step{"GET /{C}/b?comp=metadata", "", "", "200 ~ X-Ms-Meta-B: 2 !~ X-Ms-Meta-A"},
			step{"GET /{C}/b", "", "", "200 ~ 0123456789"},
		)},
		{"setting metadata on a condition", on(step{"PUT /{C}/b?comp=metadata", "", "x-ms-meta-a: 1|If-Match: " + stale, "412 ConditionNotMet"})},
		{"setting metadata with a bad name", on(step{"PUT /{C}/b?comp=metadata", "", "x-ms-meta-a-b: 1", "400 InvalidMetadata"})},
		one("setting metadata of a missing blob", "PUT /{C}/none?comp=metadata", "x-ms-meta-a: 1", "", "404 BlobNotFound"),
		{"setting headers replaces all", []step{
			{"PUT /{C}/b", "x", block + "|x-ms-blob-content-type: text/css|x-ms-blob-content-language: fr", "201"},
			{"PUT /{C}/b?comp=properties", "", "x-ms-blob-content-type: text/html", "200"},
			{"HEAD /{C}/b", "", "", "200 ~ Content-Type: text/html !~ Content-Language"},
		}},
		{"setting no headers clears the content type", on(
			step{"PUT /{C}/b?comp=properties", "", "", "200"}, step{"HEAD /{C}/b", "", "", "200 !~ Content-Type:"}, step{"GET /{C}/b", "", "", "200 !~ Content-Type:"},
		)},
		{"the time at which the tier was set", []step{
			upload("b", "x"), {"HEAD /{C}/b", "", "", "200 !~ X-Ms-Access-Tier-Change-Time"},
			{"PUT /{C}/b?comp=tier", "", "x-ms-access-tier: Cool", "200"}, {"HEAD /{C}/b", "", "", "200 ~ X-Ms-Access-Tier-Change-Time: {*} GMT"},
			{"PUT /{C}/c", "x", block + "|x-ms-access-tier: Cool", "201"}, {"HEAD /{C}/c", "", "", "200 ~ X-Ms-Access-Tier-Change-Time: {*} GMT"},
			{"GET /{C}?restype=container&comp=list", "", "", "200 ~ <AccessTierChangeTime>{*} GMT</AccessTierChangeTime>"},
		}},
		{"the tier of a blob is set", on(step{"PUT /{C}/b?comp=tier", "", "x-ms-access-tier: Cool", "200"}, step{"HEAD /{C}/b", "", "", "200 ~ X-Ms-Access-Tier: Cool"})},
		{"an unknown tier is set", on(step{"PUT /{C}/b?comp=tier", "", "x-ms-access-tier: Warm", "400 InvalidHeaderValue"})},
		{"a tier is set without a tier", on(step{"PUT /{C}/b?comp=tier", "", "", "400 MissingRequiredHeader"})},
	}
}

// https://learn.microsoft.com/rest/api/storageservices/delete-blob
func blobDeleteCases() []conversation {
	return []conversation{
		{"a deleted blob is gone", on(step{"DELETE /{C}/b", "", "", "202"}, step{"GET /{C}/b", "", "", "404 BlobNotFound"}, step{"DELETE /{C}/b", "", "", "404 BlobNotFound"})},
		{"a deleted blob can be put again", on(step{"DELETE /{C}/b", "", "", "202"}, step{"PUT /{C}/b", "new", block, "201"}, step{"GET /{C}/b", "", "", "200 ~ new"})},
		{"a blob is deleted with its snapshots", on(step{"DELETE /{C}/b", "", "x-ms-delete-snapshots: include", "202"})},
		{"a delete if the tier was set since the past", on(
			step{"PUT /{C}/b?comp=tier", "", "x-ms-access-tier: Cool", "200"},
			step{"DELETE /{C}/b", "", "x-ms-access-tier-if-unmodified-since: " + past, "412 AccessTierChangeTimeConditionNotMet"},
			step{"DELETE /{C}/b", "", "x-ms-access-tier-if-modified-since: " + future, "412 AccessTierChangeTimeConditionNotMet"},
			step{"DELETE /{C}/b", "", "x-ms-access-tier-if-modified-since: " + past, "202"},
		)},
		{"a delete with an unknown snapshot option", on(step{"DELETE /{C}/b", "", "x-ms-delete-snapshots: all", "400 InvalidHeaderValue"})},
	}
}
