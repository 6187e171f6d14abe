package conformance

import (
	"fmt"
	"strings"
	"testing"
)

func TestQueueService(t *testing.T) {
	script{
		service: queues,
		open:    step{"PUT /{Q}", "", "", "201"},
		close:   step{"DELETE /{Q}", "", "", "204"},
		cases:   join(queueCases(), queueNameCases(), queueMetadataCases(), queueListCases(), queuePolicyCases(), putMessageCases(), getMessageCases(), updateMessageCases(), messageRefusals(), queueLanguageCases(), queueSecondaryCases()),
		differs: queueDifferences,
	}.onBoth(t)
}

// https://learn.microsoft.com/rest/api/storageservices/create-queue4
// https://learn.microsoft.com/rest/api/storageservices/delete-queue3
func queueCases() []conversation {
	return []conversation{
		{"a queue is created and deleted", []step{
			{"PUT /{Q}x", "", "", "201 ~ X-Ms-Request-Id: ~ Date: "},
			{"DELETE /{Q}x", "", "", "204"},
			{"GET /{Q}x?comp=metadata", "", "", "404 QueueNotFound"},
		}},
		one("a queue with the same metadata exists already", "PUT /{Q}", "", "", "204"),
		one("a queue with other metadata exists already", "PUT /{Q}", "x-ms-meta-a: 1", "", "409 QueueAlreadyExists"),
		{"metadata of an existing queue ignores the case of names", []step{
			{"PUT /{Q}x", "", "x-ms-meta-Abc: 1", "201"},
			{"PUT /{Q}x", "", "x-ms-meta-aBC: 1", "204"},
			{"DELETE /{Q}x", "", "", "204"},
		}},
		{"a deleted queue blocks its name", []step{
			{"PUT /{Q}x", "", "", "201"},
			{"DELETE /{Q}x", "", "", "204"},
			{"PUT /{Q}x", "", "", "409 QueueBeingDeleted"},
		}},
		one("a missing queue cannot be deleted", "DELETE /{Q}none", "", "", "404 QueueNotFound"),
		one("the version of the request is returned", "PUT /{Q}", "", "", "204 ~ X-Ms-Version: 2021-12-02"),
		one("the client's request id is returned", "PUT /{Q}", "x-ms-client-request-id: my-id-7", "", "204 ~ X-Ms-Client-Request-Id: my-id-7"),
		one("the service has properties", "GET /?restype=service&comp=properties", "", "", "200 ~ <StorageServiceProperties> ~ <Logging> ~ <HourMetrics> ~ <MinuteMetrics>"),
		one("the primary endpoint of queues has no statistics", "GET /?restype=service&comp=stats", "", "", "400 InvalidQueryParameterValue"),
		one("no properties to set", "PUT /?restype=service&comp=properties", "", "<StorageServiceProperties/>", "400 InvalidXmlDocument"),
		one("properties that the service does not have", "PUT /?restype=service&comp=properties", "", "<StorageServiceProperties><Colour>blue</Colour></StorageServiceProperties>", "400 InvalidXmlDocument"),
		one("metrics that are kept for 366 days", "PUT /?restype=service&comp=properties", "", metrics(366), "400 InvalidXmlDocument"),
		one("a queue has no properties", "GET /{Q}?comp=properties", "", "", "400 InvalidQueryParameterValue"),
		one("GET of a queue", "GET /{Q}", "", "", "405 UnsupportedHttpVerb"),
		one("PATCH of a queue", "PATCH /{Q}", "", "", "405 UnsupportedHttpVerb"),
		one("PUT of messages", "PUT /{Q}/messages", "", text("x"), "405 UnsupportedHttpVerb"),
	}
}

// metrics returns properties of a service that keep its metrics for that many days.
func metrics(days int) string {
	return fmt.Sprintf("<StorageServiceProperties><HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs>"+
		"<RetentionPolicy><Enabled>true</Enabled><Days>%d</Days></RetentionPolicy></HourMetrics></StorageServiceProperties>", days)
}

// nameCases returns names that are invalid for both queues and containers.
func nameCases(kind, query string) []conversation {
	var all []conversation
	for _, c := range []struct{ title, name, want string }{
		{"of two letters", "ab", "400 OutOfRangeInput"},
		{"of 64 letters", strings.Repeat("a", 64), "400 OutOfRangeInput"},
		{"with a capital", "aBc", "400 InvalidResourceName"},
		{"that begins with a dash", "-abc", "400 InvalidResourceName"},
		{"that ends with a dash", "abc-", "400 InvalidResourceName"},
		{"with two dashes", "ab--cd", "400 InvalidResourceName"},
		{"with an underscore", "ab_cd", "400 InvalidResourceName"},
		{"with a dot", "ab.cd", "400 InvalidResourceName"},
	} {
		all = append(all, one("a "+kind+" name "+c.title, "PUT /"+c.name+query, "", "", c.want))
	}
	return all
}

// https://learn.microsoft.com/rest/api/storageservices/naming-queues-and-metadata
func queueNameCases() []conversation {
	all := nameCases("queue", "")
	for _, c := range [][2]string{{"of digits", "{Q}1"}, {"with dashes", "{Q}-x-1"}} {
		all = append(all, conversation{"a queue name " + c[0], []step{{"PUT /" + c[1], "", "", "201"}, {"DELETE /" + c[1], "", "", "204"}}})
	}
	return all
}

// https://learn.microsoft.com/rest/api/storageservices/set-queue-metadata
// https://learn.microsoft.com/rest/api/storageservices/get-queue-metadata
func queueMetadataCases() []conversation {
	return []conversation{
		{"metadata is kept", []step{
			{"PUT /{Q}?comp=metadata", "", "x-ms-meta-color: blue|x-ms-meta-size: 7", "204"},
			{"GET /{Q}?comp=metadata", "", "", "200 ~ X-Ms-Meta-Color: blue ~ X-Ms-Meta-Size: 7 ~ X-Ms-Approximate-Messages-Count: 0"},
			{"HEAD /{Q}?comp=metadata", "", "", "200 ~ X-Ms-Meta-Color: blue"},
		}},
		{"setting metadata removes what is not named", []step{
			{"PUT /{Q}?comp=metadata", "", "x-ms-meta-color: blue", "204"},
			{"PUT /{Q}?comp=metadata", "", "x-ms-meta-size: 7", "204"},
			{"GET /{Q}?comp=metadata", "", "", "200 ~ X-Ms-Meta-Size: 7 !~ Meta-Color"},
			{"PUT /{Q}?comp=metadata", "", "", "204"},
			{"GET /{Q}?comp=metadata", "", "", "200 !~ X-Ms-Meta-"},
		}},
		{"the messages are counted", []step{
			{"POST /{Q}/messages", text("a"), "", "201"}, {"POST /{Q}/messages", text("b"), "", "201"},
			{"GET /{Q}?comp=metadata", "", "", "200 ~ X-Ms-Approximate-Messages-Count: 2"},
			{"GET /{Q}/messages", "", "", "200"},
			{"GET /{Q}?comp=metadata", "", "", "200 ~ X-Ms-Approximate-Messages-Count: 2"},
		}},
		one("metadata of a missing queue", "GET /{Q}none?comp=metadata", "", "", "404 QueueNotFound"),
		one("setting metadata of a missing queue", "PUT /{Q}none?comp=metadata", "x-ms-meta-a: 1", "", "404 QueueNotFound"),
		one("metadata with a dash in the name", "PUT /{Q}?comp=metadata", "x-ms-meta-a-b: 1", "", "400 InvalidMetadata"),
		one("metadata with a name that begins with a digit", "PUT /{Q}?comp=metadata", "x-ms-meta-1a: 1", "", "400 InvalidMetadata"),
		one("metadata of more than 8 KiB", "PUT /{Q}?comp=metadata", "x-ms-meta-a: "+strings.Repeat("v", 8<<10), "", "400 MetadataTooLarge"),
		one("an unknown part of a queue", "GET /{Q}?comp=colour", "", "", "400 InvalidQueryParameterValue"),
	}
}

// https://learn.microsoft.com/rest/api/storageservices/list-queues1
func queueListCases() []conversation {
	three := func(rest ...step) []step {
		steps := []step{{"PUT /{Q}-a", "", "x-ms-meta-k: v", "201"}, {"PUT /{Q}-b", "", "", "201"}}
		steps = append(steps, rest...)
		return append(steps, step{"DELETE /{Q}-a", "", "", "204"}, step{"DELETE /{Q}-b", "", "", "204"})
	}
	return []conversation{
		{"queues are listed by prefix", three(step{"GET /?comp=list&prefix={Q}", "", "", "200 ~ <Prefix>{Q}</Prefix> ~ <Queues><Queue><Name>{Q}</Name></Queue><Queue><Name>{Q}-a</Name></Queue><Queue><Name>{Q}-b</Name></Queue></Queues> ~ <NextMarker"})},
		{"a prefix without matches", []step{{"GET /?comp=list&prefix={Q}none", "", "", "200 ~ <Queues"}}},
		{"queues are listed with metadata", three(step{"GET /?comp=list&prefix={Q}-a&include=metadata", "", "", "200 ~ <Name>{Q}-a</Name><Metadata> ~ >v</"})},
		{"queues are listed in pages", three(
			step{"GET /?comp=list&prefix={Q}&maxresults=2", "", "", "200 ~ <MaxResults>2</MaxResults> ~ <Name>{Q}-a</Name> ~ <NextMarker>{=marker}</NextMarker> !~ <Name>{Q}-b</Name>"},
			step{"GET /?comp=list&prefix={Q}&maxresults=2&marker={marker}", "", "", "200 ~ <Name>{Q}-b</Name> !~ <Name>{Q}-a</Name>"},
		)},
		{"a marker stays valid when queues are deleted", three(
			step{"GET /?comp=list&prefix={Q}&maxresults=1", "", "", "200 ~ <Name>{Q}</Name> ~ <NextMarker>{=marker}</NextMarker>"},
			step{"GET /?comp=list&prefix={Q}&marker={marker}", "", "", "200 ~ <Name>{Q}-a</Name> ~ <Name>{Q}-b</Name>"},
		)},
		one("a page size of 0 for queues", "GET /?comp=list&maxresults=0", "", "", "400 OutOfRangeQueryParameterValue"),
		one("a page size that is not a number", "GET /?comp=list&maxresults=many", "", "", "400 InvalidQueryParameterValue"),
		one("an unknown kind of list", "GET /?comp=lost", "", "", "400 InvalidQueryParameterValue"),
	}
}

// https://learn.microsoft.com/rest/api/storageservices/set-queue-acl
func queuePolicyCases() []conversation {
	policy := func(n int, permission string) string {
		var b strings.Builder
		b.WriteString("<SignedIdentifiers>")
		for i := range n {
			fmt.Fprintf(&b, "<SignedIdentifier><Id>id%d</Id><AccessPolicy><Start>2020-01-01T00:00:00Z</Start><Expiry>2099-01-01T00:00:00Z</Expiry><Permission>%s</Permission></AccessPolicy></SignedIdentifier>", i, permission)
		}
		return b.String() + "</SignedIdentifiers>"
	}
	return []conversation{
		{"policies of a queue are kept", []step{
			{"PUT /{Q}?comp=acl", policy(5, "raup"), "", "204"},
			{"GET /{Q}?comp=acl", "", "", "200 ~ <Id>id0</Id> ~ <Id>id4</Id> ~ <Permission>raup</Permission> ~ 2099-01-01T00:00:00"},
			{"PUT /{Q}?comp=acl", policy(0, ""), "", "204"},
			{"GET /{Q}?comp=acl", "", "", "200 !~ <Id>"},
		}},
		one("six policies of a queue", "PUT /{Q}?comp=acl", "", policy(6, "r"), "400 InvalidXmlDocument"),
		one("a policy with a permission of blobs", "PUT /{Q}?comp=acl", "", policy(1, "w"), "400 InvalidXmlNodeValue"),
		one("a policy without an id", "PUT /{Q}?comp=acl", "", "<SignedIdentifiers><SignedIdentifier/></SignedIdentifiers>", "400 InvalidXmlDocument"),
		one("a policy with an id of 65 letters", "PUT /{Q}?comp=acl", "", strings.Replace(policy(1, "r"), "id0", strings.Repeat("i", 65), 1), "400 InvalidXmlDocument"),
		one("policies that are not XML", "PUT /{Q}?comp=acl", "", "<Signed", "400 InvalidXmlDocument"),
		one("policies of a missing queue", "GET /{Q}none?comp=acl", "", "", "404 QueueNotFound"),
	}
}
