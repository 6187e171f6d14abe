package conformance

import (
	"strings"
	"testing"
)

// difference describes how Azurite differs in one case.
type difference struct {
	name string // of the case
	step int    // the first that differs, from 0; later steps are not run
	got  string // Azurite's reply: status and code, or "~" and the status and code if only the text differs
	doc  string // quotation of the documentation that the script follows
	link string // below https://learn.microsoft.com/
}

func (d difference) is(got reply) bool {
	return strings.TrimPrefix(d.got, "~ ") == got.summary
}

// checkDifferences fails the test for an entry without a case or a reason. cases contains the number of steps of each case.
func checkDifferences(t *testing.T, differs []difference, cases map[string]int) {
	seen := map[string]bool{}
	for _, d := range differs {
		if d.step >= cases[d.name] {
			t.Errorf("%q: no such case, or no such step", d.name)
		}
		if d.got == "" || d.doc == "" || d.link == "" || strings.Contains(d.link, "://") {
			t.Errorf("%q: an entry needs Azurite's reply, a quotation of the documentation and a link", d.name)
		}
		if seen[d.name] {
			t.Errorf("%q is listed twice", d.name)
		}
		seen[d.name] = true
	}
}

// In sdkDifferences, got is a part of the error that the program returns on Azurite.
var sdkDifferences = []difference{
	{"a transaction of 101", 0, "malformed HTTP response",
		"at most 100 operations; the reply is a change set in which the failing operation has its status and code",
		"rest/api/storageservices/performing-entity-group-transactions"},
	{"a transaction of two partitions", 0, "it was taken",
		"all entities of a transaction have the same PartitionKey",
		"rest/api/storageservices/performing-entity-group-transactions"},
	{"CopyFromURL", 0, "want an error of the service with 401 CannotVerifyCopySource",
		"the source must be public or be authorized via a shared access signature; reproduced in issue 32028 of azure-sdk-for-net", "rest/api/storageservices/copy-blob-from-url"},
	{"UploadBlobFromURL with the tags of the source", 0, "APINotImplemented",
		"Put Blob From URL is an operation of the service", "rest/api/storageservices/put-blob-from-url"},
}

var queueDifferences = []difference{
	{"a deleted queue blocks its name", 2, "201",
		"Delete Queue: for at least 30 seconds a queue of the same name is refused with QueueBeingDeleted", "rest/api/storageservices/delete-queue3"},
	{"the version of the request is returned", 0, "~ 204",
		"x-ms-version indicates the version that was used to execute the request", "rest/api/storageservices/common-rest-api-error-codes"},
	{"a queue has no properties", 0, "400",
		"every refusal has a code, here InvalidQueryParameterValue", "rest/api/storageservices/common-rest-api-error-codes"},
	{"GET of a queue", 0, "400",
		"every refusal has a code, here UnsupportedHttpVerb", "rest/api/storageservices/common-rest-api-error-codes"},
	{"PATCH of a queue", 0, "400",
		"every refusal has a code, here UnsupportedHttpVerb", "rest/api/storageservices/common-rest-api-error-codes"},
	{"PUT of messages", 0, "400",
		"every refusal has a code, here UnsupportedHttpVerb", "rest/api/storageservices/common-rest-api-error-codes"},
	{"metadata with a dash in the name", 0, "204",
		"metadata names are C# identifiers", "rest/api/storageservices/naming-queues-and-metadata"},
	{"metadata with a name that begins with a digit", 0, "204",
		"metadata names are C# identifiers", "rest/api/storageservices/naming-queues-and-metadata"},
	{"metadata of more than 8 KiB", 0, "204",
		"MetadataTooLarge: the size of the metadata exceeds the maximum, 8 KiB", "rest/api/storageservices/common-rest-api-error-codes"},
	{"an unknown part of a queue", 0, "400",
		"every refusal has a code, here InvalidQueryParameterValue", "rest/api/storageservices/common-rest-api-error-codes"},
	{"a page size of 0 for queues", 0, "400",
		"every refusal has a code, here OutOfRangeQueryParameterValue", "rest/api/storageservices/common-rest-api-error-codes"},
	{"a page size that is not a number", 0, "400",
		"every refusal has a code, here InvalidQueryParameterValue", "rest/api/storageservices/common-rest-api-error-codes"},
	{"an unknown kind of list", 0, "400 InvalidResourceName",
		"InvalidQueryParameterValue: an invalid value was specified for a query parameter", "rest/api/storageservices/common-rest-api-error-codes"},
	{"a policy with a permission of blobs", 0, "400 InvalidXmlDocument",
		"InvalidXmlNodeValue: a value in one of the XML nodes is not in the correct format", "rest/api/storageservices/common-rest-api-error-codes"},
	{"policies that are not XML", 0, "400",
		"every refusal has a code, here InvalidXmlDocument", "rest/api/storageservices/common-rest-api-error-codes"},
	{"a message put with a lifetime of 0", 0, "400 InvalidQueryParameterValue",
		"messagettl is a positive number or -1: out of range", "rest/api/storageservices/put-message"},
	{"a message put with a lifetime of -2", 0, "400",
		"every refusal has a code, here OutOfRangeQueryParameterValue", "rest/api/storageservices/common-rest-api-error-codes"},
	{"a message put with a lifetime that is not a number", 0, "400",
		"every refusal has a code, here InvalidQueryParameterValue", "rest/api/storageservices/common-rest-api-error-codes"},
	{"a message put with a delay that is not a number", 0, "400",
		"every refusal has a code, here InvalidQueryParameterValue", "rest/api/storageservices/common-rest-api-error-codes"},
	{"a body that is not XML", 0, "400",
		"every refusal has a code, here InvalidXmlDocument", "rest/api/storageservices/common-rest-api-error-codes"},
	{"a body that breaks off", 0, "400",
		"every refusal has a code, here InvalidXmlDocument", "rest/api/storageservices/common-rest-api-error-codes"},
	{"a body with another root", 0, "201",
		"the body is a QueueMessage", "rest/api/storageservices/put-message"},
	{"a get hides the message", 1, "~ 200",
		"Get Messages: the reply has Cache-Control: no-cache", "rest/api/storageservices/get-messages"},
	{"a get with a count of 0", 1, "400",
		"every refusal has a code, here OutOfRangeQueryParameterValue", "rest/api/storageservices/common-rest-api-error-codes"},
	{"a get with a count that is not a number", 1, "400",
		"every refusal has a code, here InvalidQueryParameterValue", "rest/api/storageservices/common-rest-api-error-codes"},
	{"an update with a visibility that is not a number", 2, "400",
		"every refusal has a code, here InvalidQueryParameterValue", "rest/api/storageservices/common-rest-api-error-codes"},
	{"an update beyond the lifetime of a message", 1, "204",
		"the visibility timeout of a message cannot be set beyond the expiry time", "rest/api/storageservices/update-message"},
	{"an update without a visibility", 2, "400",
		"every refusal has a code, here MissingRequiredQueryParameter", "rest/api/storageservices/common-rest-api-error-codes"},
	{"an update without a receipt", 2, "400",
		"every refusal has a code, here MissingRequiredQueryParameter", "rest/api/storageservices/common-rest-api-error-codes"},
	{"a delete without a receipt", 2, "400",
		"every refusal has a code, here MissingRequiredQueryParameter", "rest/api/storageservices/common-rest-api-error-codes"},
	{"no credential", 0, "403 AuthenticationFailed",
		"an unauthenticated request is challenged: 401, NoAuthenticationInformation", "rest/api/storageservices/common-rest-api-error-codes"},
	{"an unknown scheme", 0, "403 AuthenticationFailed",
		"InvalidAuthenticationInfo: the authentication information was not provided in the correct format", "rest/api/storageservices/common-rest-api-error-codes"},
	{"an invalid version", 0, "200",
		"InvalidHeaderValue: the value for one of the HTTP headers is not in the correct format", "rest/api/storageservices/common-rest-api-error-codes"},
	{"no properties to set", 0, "500",
		"one or more elements have to be specified; the service replies InvalidXmlDocument (issue 540 of azure-storage-python)", "rest/api/storageservices/set-queue-service-properties"},
	{"properties that the service does not have", 0, "202",
		"an element that is not recognized: InvalidXmlDocument (issue 540 of azure-storage-python)", "rest/api/storageservices/set-queue-service-properties"},
	{"metrics that are kept for 366 days", 0, "202",
		"Days is 1 to 365; recorded as InvalidXmlDocument by TestAccountDeleteRetentionPolicyDaysTooLarge of azblob", "rest/api/storageservices/set-queue-service-properties"},
	{"a policy without an id", 0, "204",
		"Id is required; recorded as InvalidXmlDocument by TestSetAccessPolicyWithNullId of azblob", "rest/api/storageservices/set-queue-acl"},
	{"a policy with an id of 65 letters", 0, "204",
		"an Id has at most 64 characters; recorded as InvalidXmlDocument by TestQueueSetPermissionsSignedIdentifierTooLong of azqueue", "rest/api/storageservices/set-queue-acl"},
	{"the secondary delivers no message", 0, "200",
		"InsufficientAccountPermissions: write operations are not allowed; Azurite has one account at both addresses",
		"rest/api/storageservices/common-rest-api-error-codes"},
}
