package conformance

// https://learn.microsoft.com/rest/api/storageservices/list-blobs
func blobListCases() []conversation {
	const at = "GET /{C}?restype=container&comp=list"
	tree := func(rest ...step) []step {
		var steps []step
		for _, name := range []string{"a.txt", "d/1", "d/2", "d/e/3", "z"} {
			steps = append(steps, upload(name, "x"))
		}
		return append(steps, rest...)
	}
	list := func(name, query, want string) conversation {
		return conversation{name, tree(step{at + query, "", "", want})}
	}
	return []conversation{
		{"an empty container lists nothing", []step{{at, "", "", `200 ~ ContainerName="{C}" ~ <Blobs ~ <NextMarker !~ <Blob>`}}},
		list("blobs are listed by name", "", "200 ~ <Name>a.txt</Name> ~ <Name>d/e/3</Name> ~ <Name>z</Name> !~ <BlobPrefix>"),
		list("blobs are listed with their properties", "&prefix=z", "200 ~ <Name>z</Name> ~ <Content-Length>1</Content-Length> ~ <Content-Type>application/octet-stream</Content-Type> ~ <BlobType>BlockBlob</BlobType> ~ <Creation-Time> ~ <Last-Modified> ~ <Etag>0x{*}</Etag> ~ <Content-MD5>ndTkYSaMgDT1yFZOFVxnpg==</Content-MD5> !~ <Metadata>"),
		list("blobs are listed by prefix", "&prefix=d/", "200 ~ <Prefix>d/</Prefix> ~ <Name>d/1</Name> ~ <Name>d/e/3</Name> !~ <Name>z</Name>"),
		list("a prefix need not end with a part", "&prefix=a.t", "200 ~ <Name>a.txt</Name> !~ <Name>d/1</Name>"),
		list("a hierarchy is listed", "&delimiter=/", "200 ~ <Delimiter>/</Delimiter> ~ <Name>a.txt</Name> ~ <BlobPrefix><Name>d/</Name></BlobPrefix> ~ <Name>z</Name> !~ <Name>d/1</Name>"),
		list("a hierarchy is listed below a prefix", "&delimiter=/&prefix=d/", "200 ~ <Name>d/1</Name> ~ <Name>d/2</Name> ~ <BlobPrefix><Name>d/e/</Name></BlobPrefix> !~ <Name>z</Name>"),
		list("another delimiter", "&delimiter=.", "200 ~ <BlobPrefix><Name>a.</Name></BlobPrefix> ~ <Name>d/1</Name>"),
		{"blobs are listed in pages", tree(
			step{at + "&maxresults=2", "", "", "200 ~ <MaxResults>2</MaxResults> ~ <Name>d/1</Name> ~ <NextMarker>{=marker}</NextMarker> !~ <Name>d/2</Name>"},
			step{at + "&maxresults=2&marker={marker}", "", "", "200 ~ <Name>d/2</Name> ~ <Name>d/e/3</Name> ~ <NextMarker>{=next}</NextMarker> !~ <Name>d/1</Name>"},
			step{at + "&maxresults=2&marker={next}", "", "", "200 ~ <Name>z</Name> !~ <Name>d/"},
		)},
		{"a hierarchy is listed in pages", tree(
			step{at + "&delimiter=/&maxresults=2", "", "", "200 ~ <Name>a.txt</Name> ~ <Name>d/</Name> ~ <NextMarker>{=marker}</NextMarker> !~ <Name>z</Name>"},
			step{at + "&delimiter=/&maxresults=2&marker={marker}", "", "", "200 ~ <Name>z</Name> !~ <Name>d/"},
		)},
		{"a blob created between two pages is listed after the marker", tree(
			step{at + "&maxresults=2", "", "", "200 ~ <NextMarker>{=marker}</NextMarker>"},
			upload("y", "x"),
			step{at + "&marker={marker}", "", "", "200 ~ <Name>y</Name> ~ <Name>z</Name>"},
		)},
		{"metadata is listed on request", []step{
			{"PUT /{C}/b", "x", block + "|x-ms-meta-color: blue", "201"},
			{at, "", "", "200 ~ <Name>b</Name> !~ blue"},
			{at + "&include=metadata", "", "", "200 ~ <Metadata> ~ >blue</"},
		}},
		{"an append blob is listed as one", growing(step{at, "", "", "200 ~ <BlobType>AppendBlob</BlobType> !~ <AccessTier>"})},
		list("a page of more than 5,000 blobs", "&maxresults=5001", "200 ~ <Name>z</Name>"),
	}
}

func listRefusals() []conversation {
	const at = "GET /{C}?restype=container&comp=list"
	return []conversation{
		one("a page size of 0 for blobs", at+"&maxresults=0", "", "", "400 OutOfRangeQueryParameterValue"),
		one("a negative page size of blobs", at+"&maxresults=-1", "", "", "400 OutOfRangeQueryParameterValue"),
		one("a page size of blobs that is not a number", at+"&maxresults=all", "", "", "400 InvalidQueryParameterValue"),
		one("a list with something unknown", at+"&include=colours", "", "", "400 InvalidQueryParameterValue"),
		one("a hierarchy with snapshots", at+"&delimiter=/&include=snapshots", "", "", "400 InvalidQueryParameterValue"),
		one("a list of a missing container", "GET /{C}none?restype=container&comp=list", "", "", "404 ContainerNotFound"),
	}
}

// https://learn.microsoft.com/rest/api/storageservices/set-blob-tags
func tagCases() []conversation {
	tags := "<Tags><TagSet><Tag><Key>color</Key><Value>blue</Value></Tag></TagSet></Tags>"
	return []conversation{
		{"tags are kept", on(
			step{"PUT /{C}/b?comp=tags", tags, "", "204"},
			step{"GET /{C}/b?comp=tags", "", "", "200 ~ <Tag><Key>color</Key><Value>blue</Value></Tag>"},
			step{"HEAD /{C}/b", "", "", "200 ~ X-Ms-Tag-Count: 1 ~ Etag: {etag}"},
		)},
		{"tags on conditions", on(
			step{"PUT /{C}/b?comp=tags", tags, "x-ms-blob-if-match: " + stale, "412 ConditionNotMet"},
			step{"PUT /{C}/b?comp=tags", tags, "x-ms-blob-if-none-match: {etag}", "412 ConditionNotMet"},
			step{"PUT /{C}/b?comp=tags", tags, "x-ms-blob-if-unmodified-since: " + past, "412 ConditionNotMet"},
			step{"PUT /{C}/b?comp=tags", tags, "x-ms-blob-if-match: {etag}|x-ms-blob-if-modified-since: ", "204"},
			step{"GET /{C}/b?comp=tags", "", "x-ms-blob-if-match: " + stale, "412 ConditionNotMet"},
		)},
		{"a blob is put with tags", []step{{"PUT /{C}/b", "x", block + "|x-ms-tags: color=blue&size=7", "201"}, {"GET /{C}/b?comp=tags", "", "", "200 ~ <Key>color</Key><Value>blue</Value> ~ <Key>size</Key><Value>7</Value>"}}},
		{"tags that are not XML", on(step{"PUT /{C}/b?comp=tags", "blue", "", "400 InvalidXmlDocument"})},
		one("tags of a missing blob", "GET /{C}/none?comp=tags", "", "", "404 BlobNotFound"),
	}
}
