package conformance

// Requests that the SDKs of other languages send to queues and blobs. The JavaScript packages are tested in folder js.
var storageSDKs = []sdk{
	{".NET", "Accept: application/xml|x-ms-version: 2025-11-05|x-ms-return-client-request-id: true|x-ms-client-request-id: 8b2a9c3e-0000-0000-0000-000000000001|User-Agent: azsdk-net-Storage.Queues/12.22.0", "Content-Type: application/xml"},
	{"Java", "Accept: application/xml|x-ms-version: 2025-07-05|x-ms-client-request-id: 8b2a9c3e-0000-0000-0000-000000000002|User-Agent: azsdk-java-azure-storage-queue/12.24.0", "Content-Type: application/xml; charset=utf-8"},
	{"Python", "Accept: application/xml|Accept-Encoding: gzip, deflate|x-ms-version: 2025-05-05|User-Agent: azsdk-python-storage-queue/12.12.0", "Content-Type: application/xml; charset=utf-8"},
	{"C++", "x-ms-version: 2020-08-04|User-Agent: azsdk-cpp-storage-queues/12.4.0", "Content-Type: application/xml; charset=UTF-8"},
	{"the old .NET", "Accept: |x-ms-version: 2017-07-29|User-Agent: Azure-Storage/9.3.2 (.NET CLR 4.0)", "Content-Type: application/xml"},
}

func queueLanguageCases() []conversation {
	var all []conversation
	for _, s := range storageSDKs {
		write := s.read + "|" + s.write
		all = append(all, conversation{"a message's life by " + s.name, []step{
			{"POST /{Q}/messages", `<?xml version="1.0" encoding="utf-8"?>` + "\n" + text("aGVsbG8="), write, "201 ~ <MessageId>{=id}</MessageId> ~ <PopReceipt>"},
			{"GET /{Q}/messages?numofmessages=1&visibilitytimeout=30", "", s.read, "200 ~ <PopReceipt>{=pop}</PopReceipt> ~ <MessageText>aGVsbG8=</MessageText> ~ Content-Type: application/xml"},
			{"PUT /{Q}/messages/{id}?popreceipt={pop}&visibilitytimeout=60", text("d29ybGQ="), write, "204 ~ X-Ms-Popreceipt: {=next}"},
			{"DELETE /{Q}/messages/{id}?popreceipt={next}", "", s.read, "204"},
			{"GET /{Q}?comp=metadata", "", s.read, "200 ~ Messages-Count: 0"},
		}})
	}
	return append(all, one("a text in UTF-8 with a mark of the byte order", "POST /{Q}/messages", "", "\ufeff"+text("x"), "201"))
}

func blobLanguageCases() []conversation {
	var all []conversation
	for _, s := range storageSDKs {
		stream := s.read + "|Content-Type: application/octet-stream|Expect: 100-continue"
		all = append(all, conversation{"a blob's life by " + s.name, []step{
			{"PUT /{C}/b", "hello", stream + "|" + block + "|x-ms-blob-content-type: text/plain|If-None-Match: *", "201 ~ Etag: {=etag}"},
			{"HEAD /{C}/b", "", s.read, "200 ~ Content-Length: 5 ~ Content-Type: text/plain"},
			{"GET /{C}/b", "", s.read + "|x-ms-range: bytes=0-4194303|If-Match: {etag}", "206 ~ hello ~ Content-Range: bytes 0-4/5"},
			{"PUT /{C}/b?comp=block&blockid=MDAwMQ%3D%3D", "one", stream, "201"},
			{"PUT /{C}/b?comp=blocklist", blockList("Latest MDAwMQ=="), s.read + "|" + s.write, "201"},
			{"GET /{C}?restype=container&comp=list&prefix=b&delimiter=%2F&include=metadata", "", s.read, "200 ~ <Name>b</Name> ~ <Content-Length>3</Content-Length>"},
			{"DELETE /{C}/b", "", s.read + "|x-ms-delete-snapshots: include", "202"},
		}})
	}
	return all
}
