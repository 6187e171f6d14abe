package conformance

// sdkDifferences are the differences of programs. Their field got is a part of the program's error.
var sdkDifferences = []difference{
	{"a transaction of 101 operations", 0, "malformed HTTP response",
		"at most 100 operations; the answer is a change set in which the failing operation has its status and code",
		"rest/api/storageservices/performing-entity-group-transactions"},
	{"a transaction with two partitions", 0, "was accepted",
		"all entities of a transaction have the same PartitionKey",
		"rest/api/storageservices/performing-entity-group-transactions"},
	{"a text of more than 64 KiB", 0, "413 RequestBodyTooLarge",
		"MessageTooLarge: the message exceeds the maximum allowed size, with status 400",
		"rest/api/storageservices/queue-service-error-codes"},
}
