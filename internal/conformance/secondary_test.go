package conformance

// The secondary is at the address of the primary, with "-secondary" after the name of the account.
// https://learn.microsoft.com/rest/api/storageservices/get-table-service-stats

const stats = `200 ~ <StorageServiceStats><GeoReplication><Status>live</Status><LastSyncTime>{*} GMT</LastSyncTime></GeoReplication></StorageServiceStats>`

func tableSecondaryCases() []conversation {
	return []conversation{
		one("the secondary endpoint of tables has statistics", "GET -secondary/?restype=service&comp=stats", "Accept: application/xml", "", stats),
		{"a row is read from the secondary", []step{
			{"PUT " + at("p", "r"), `{"A":1}`, "", "204 ~ Etag: {=etag}"},
			{"GET -secondary" + at("p", "r"), "", "", `200 ~ "A":1 ~ Etag: {etag}`},
			{"GET -secondary/{T}()?$filter=A eq 1", "", "", `200 ~ "RowKey":"r"`},
		}},
		one("the secondary inserts no row", "POST -secondary/{T}", "", row("p", "r", ""), "403 InsufficientAccountPermissions"),
		one("the secondary deletes no table", "DELETE -secondary/Tables('{T}')", "", "", "403 InsufficientAccountPermissions"),
	}
}

func queueSecondaryCases() []conversation {
	return []conversation{
		one("the secondary endpoint of queues has statistics", "GET -secondary/?restype=service&comp=stats", "", "", stats),
		{"a message is peeked at on the secondary", []step{
			{"POST /{Q}/messages", "<QueueMessage><MessageText>m</MessageText></QueueMessage>", "", "201"},
			{"GET -secondary/{Q}/messages?peekonly=true", "", "", "200 ~ <MessageText>m</MessageText>"},
		}},
		one("the secondary delivers no message", "GET -secondary/{Q}/messages", "", "", "403 InsufficientAccountPermissions"),
	}
}

func blobSecondaryCases() []conversation {
	return []conversation{
		one("the secondary endpoint of blobs has statistics", "GET -secondary/?restype=service&comp=stats", "", "", stats),
		{"a blob is read from the secondary", []step{
			{"PUT /{C}/b", "content", "X-Ms-Blob-Type: BlockBlob", "201"},
			{"GET -secondary/{C}/b", "", "", "200 ~ content"},
		}},
		one("the secondary stores no blob", "PUT -secondary/{C}/b", "X-Ms-Blob-Type: BlockBlob", "content", "403 InsufficientAccountPermissions"),
	}
}
