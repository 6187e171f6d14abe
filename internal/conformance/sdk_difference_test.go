package conformance

// In sdkDifferences, got is a part of the error that the program returns on Azurite.
var sdkDifferences = []difference{
	{"a transaction of 101", 0, "malformed HTTP response",
		"at most 100 operations; the reply is a change set in which the failing operation has its status and code",
		"rest/api/storageservices/performing-entity-group-transactions"},
	{"a transaction of two partitions", 0, "it was taken",
		"all entities of a transaction have the same PartitionKey",
		"rest/api/storageservices/performing-entity-group-transactions"},
	{"a text of more than 64 KiB", 0, "413 RequestBodyTooLarge",
		"MessageTooLarge: the message exceeds the maximum allowed size, with status 400",
		"rest/api/storageservices/queue-service-error-codes"},
}
