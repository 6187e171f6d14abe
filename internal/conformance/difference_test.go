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
