package conformance

import (
	"strings"
	"testing"
)

func TestBlobService(t *testing.T) {
	script{
		service: blobs,
		open:    step{"PUT /{C}?restype=container", "", "", "201"},
		close:   step{"DELETE /{C}?restype=container", "", "", "202"},
		cases: join(blobSecondaryCases(), containerCases(), containerNameCases(), containerSettingCases(), containerListCases(),
			putBlobCases(), checksumCases(), blobNameCases(), rangeCases(), blobConditionCases(), blobSettingCases(), blobDeleteCases(),
			blockCases(), blockRefusals(), appendCases(), appendRefusals(), blobListCases(), listRefusals(), leaseCases(), leaseRefusals(), containerLeaseCases(),
			copyCases(), copyRefusals(), copySourceCases(), blobSignatureCases(), blobBatchCases(), snapshotCases(), tagCases(), blobLanguageCases()),
		differs: append(urlDifferences(), blobDifferences...),
	}.onBoth(t)
}

const (
	block  = "x-ms-blob-type: BlockBlob"
	grow   = "x-ms-blob-type: AppendBlob"
	stale  = `"0x8D0000000000000"`
	past   = "Mon, 01 Jan 2001 00:00:00 GMT"
	future = "Tue, 01 Jan 2999 00:00:00 GMT"
)

// upload puts a block blob and captures its ETag.
func upload(name, content string) step {
	return step{"PUT /{C}/" + name, content, block, "201 ~ Etag: {=etag}"}
}

// on returns steps that first create a blob "b" with ten digits.
func on(rest ...step) []step { return append([]step{upload("b", "0123456789")}, rest...) }

// https://learn.microsoft.com/rest/api/storageservices/create-container
// https://learn.microsoft.com/rest/api/storageservices/delete-container
func containerCases() []conversation {
	return []conversation{
		{"a container is created and deleted", []step{
			{"PUT /{C}x?restype=container", "", "", `201 ~ Etag: "0x{*}" ~ Last-Modified: {*} GMT`},
			{"DELETE /{C}x?restype=container", "", "", "202"},
			{"GET /{C}x?restype=container", "", "", "404 ContainerNotFound"},
		}},
		one("a container exists already", "PUT /{C}?restype=container", "", "", "409 ContainerAlreadyExists"),
		{"a deleted container blocks its name", []step{
			{"PUT /{C}x?restype=container", "", "", "201"}, {"DELETE /{C}x?restype=container", "", "", "202"},
			{"PUT /{C}x?restype=container", "", "", "409 ContainerBeingDeleted"},
		}},
		{"a container is deleted twice", []step{
			{"PUT /{C}x?restype=container", "", "", "201"}, {"DELETE /{C}x?restype=container", "", "", "202"},
			{"DELETE /{C}x?restype=container", "", "", "202"}, {"GET /{C}x?restype=container", "", "", "404 ContainerNotFound"},
		}},
		one("a missing container cannot be deleted", "DELETE /{C}none?restype=container", "", "", "404 ContainerNotFound"),
		one("POST to a container", "POST /{C}?restype=container", "", "", "405 UnsupportedHttpVerb"),
		one("a resource of another type", "PUT /{C}?restype=share", "", "", "400 InvalidQueryParameterValue"),
		one("an unknown part of a container", "GET /{C}?restype=container&comp=colour", "", "", "400 InvalidQueryParameterValue"),
		{"a container is deleted on a condition by time", []step{
			{"DELETE /{C}?restype=container", "", "If-Unmodified-Since: " + past, "412 ConditionNotMet"},
			{"DELETE /{C}?restype=container", "", "If-Modified-Since: " + past, "202"},
		}},
		one("a container has no conditions by ETag", "DELETE /{C}?restype=container", "If-Match: *", "", "400 ConditionHeadersNotSupported"),
		one("the account returns its kind", "GET /?restype=account&comp=properties", "", "", "200 ~ X-Ms-Sku-Name: ~ X-Ms-Account-Kind: StorageV2"),
		one("the service has properties", "GET /?restype=service&comp=properties", "", "", "200 ~ <StorageServiceProperties> ~ <Logging> ~ <HourMetrics>"),
		one("metrics of blobs that are kept for 366 days", "PUT /?restype=service&comp=properties", "", metrics(366), "400 InvalidXmlDocument"),
		one("deleted blobs that are kept for no days", "PUT /?restype=service&comp=properties", "", "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled></DeleteRetentionPolicy></StorageServiceProperties>", "400 InvalidXmlDocument"),
		one("the primary endpoint of blobs has no statistics", "GET /?restype=service&comp=stats", "", "", "400 InvalidQueryParameterValue"),
		one("the version of the request is returned", "GET /{C}?restype=container", "", "", "200 ~ X-Ms-Version: 2021-12-02"),
		one("the client's request id is returned", "GET /{C}?restype=container", "x-ms-client-request-id: my-id-7", "", "200 ~ X-Ms-Client-Request-Id: my-id-7"),
	}
}

// https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata
func containerNameCases() []conversation {
	return append(nameCases("container", "?restype=container"),
		one("a container name with a dollar that is not special", "PUT /${C}?restype=container", "", "", "400 InvalidResourceName"))
}

// https://learn.microsoft.com/rest/api/storageservices/set-container-metadata
// https://learn.microsoft.com/rest/api/storageservices/set-container-acl
func containerSettingCases() []conversation {
	policies := func(n int, permission string) string {
		one := "<SignedIdentifier><Id>id#</Id><AccessPolicy><Start>2020-01-01T00:00:00Z</Start><Expiry>2099-01-01T00:00:00Z</Expiry><Permission>" + permission + "</Permission></AccessPolicy></SignedIdentifier>"
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(one, "#", string(rune('0'+i))))
		}
		return "<SignedIdentifiers>" + b.String() + "</SignedIdentifiers>"
	}
	const at = "/{C}?restype=container"
	return []conversation{
		{"a container keeps its metadata", []step{
			{"PUT " + at + "&comp=metadata", "", "x-ms-meta-color: blue", `200 ~ Etag: "0x{*}"`},
			{"GET " + at + "&comp=metadata", "", "", "200 ~ X-Ms-Meta-Color: blue"},
			{"HEAD " + at, "", "", "200 ~ X-Ms-Meta-Color: blue ~ X-Ms-Lease-State: available ~ X-Ms-Lease-Status: unlocked"},
			{"PUT " + at + "&comp=metadata", "", "x-ms-meta-size: 7", "200"},
			{"GET " + at, "", "", "200 ~ X-Ms-Meta-Size: 7 !~ Meta-Color"},
		}},
		{"metadata changes the ETag of a container", []step{
			{"GET " + at, "", "", "200 ~ Etag: {=etag}"},
			{"PUT " + at + "&comp=metadata", "", "x-ms-meta-color: blue", "200 !~ {etag}"},
		}},
		{"a container is created with metadata", []step{
			{"PUT /{C}x?restype=container", "", "x-ms-meta-color: blue", "201"},
			{"GET /{C}x?restype=container", "", "", "200 ~ X-Ms-Meta-Color: blue"}, {"DELETE /{C}x?restype=container", "", "", "202"},
		}},
		one("metadata of a container with a dash in the name", "PUT "+at+"&comp=metadata", "x-ms-meta-a-b: 1", "", "400 InvalidMetadata"),
		one("metadata of a container of more than 8 KiB", "PUT "+at+"&comp=metadata", "x-ms-meta-a: "+strings.Repeat("v", 8<<10), "", "400 MetadataTooLarge"),
		one("metadata of a missing container", "PUT /{C}none?restype=container&comp=metadata", "x-ms-meta-a: 1", "", "404 ContainerNotFound"),
		{"policies of a container are kept", []step{
			{"PUT " + at + "&comp=acl", policies(5, "rwd"), "", "200"},
			{"GET " + at + "&comp=acl", "", "", "200 ~ <Id>id0</Id> ~ <Id>id4</Id> ~ <Permission>rwd</Permission>"},
			{"PUT " + at + "&comp=acl", "", "", "200"},
			{"GET " + at + "&comp=acl", "", "", "200 !~ <Id>"},
		}},
		one("six policies of a container", "PUT "+at+"&comp=acl", "", policies(6, "r"), "400 InvalidXmlDocument"),
		one("a policy of a container without an id", "PUT "+at+"&comp=acl", "", "<SignedIdentifiers><SignedIdentifier/></SignedIdentifiers>", "400 InvalidXmlDocument"),
		one("a policy of a container with an id of 65 letters", "PUT "+at+"&comp=acl", "", strings.Replace(policies(1, "r"), "id0", strings.Repeat("i", 65), 1), "400 InvalidXmlDocument"),
		one("policies of a container that are not XML", "PUT "+at+"&comp=acl", "", "<Signed", "400 InvalidXmlDocument"),
		{"public access is kept", []step{
			{"PUT " + at + "&comp=acl", "", "x-ms-blob-public-access: blob", "200"},
			{"GET " + at + "&comp=acl", "", "", "200 ~ X-Ms-Blob-Public-Access: blob"},
		}},
		one("an unknown public access", "PUT "+at+"&comp=acl", "x-ms-blob-public-access: all", "", "400 InvalidHeaderValue"),
		{"a public blob is read without a credential", []step{
			upload("b", "hello"),
			{"GET /{C}/b", "", "Authorization: none", "401 NoAuthenticationInformation"},
			{"PUT " + at + "&comp=acl", "", "x-ms-blob-public-access: blob", "200"},
			{"GET /{C}/b", "", "Authorization: none", "200 ~ hello"},
			{"PUT /{C}/b", "x", block + "|Authorization: none", "401 NoAuthenticationInformation"},
			{"GET " + at + "&comp=list", "", "Authorization: none", "401 NoAuthenticationInformation"},
			{"PUT " + at + "&comp=acl", "", "x-ms-blob-public-access: container", "200"},
			{"GET " + at + "&comp=list", "", "Authorization: none", "200 ~ <Name>b</Name>"},
		}},
	}
}

// https://learn.microsoft.com/rest/api/storageservices/list-containers2
func containerListCases() []conversation {
	two := func(rest ...step) []step {
		steps := append([]step{{"PUT /{C}-a?restype=container", "", "x-ms-meta-k: v", "201"}}, rest...)
		return append(steps, step{"DELETE /{C}-a?restype=container", "", "", "202"})
	}
	return []conversation{
		{"containers are listed by prefix", two(step{"GET /?comp=list&prefix={C}", "", "", "200 ~ <Prefix>{C}</Prefix> ~ <Name>{C}</Name> ~ <Name>{C}-a</Name> ~ <Last-Modified> ~ <Etag> ~ <LeaseStatus>unlocked</LeaseStatus> ~ <LeaseState>available</LeaseState> !~ <Metadata>"})},
		{"containers are listed with metadata", two(step{"GET /?comp=list&prefix={C}-a&include=metadata", "", "", "200 ~ <Metadata> ~ >v</"})},
		{"containers are listed in pages", two(
			step{"GET /?comp=list&prefix={C}&maxresults=1", "", "", "200 ~ <Name>{C}</Name> ~ <NextMarker>{=marker}</NextMarker> !~ <Name>{C}-a"},
			step{"GET /?comp=list&prefix={C}&maxresults=1&marker={marker}", "", "", "200 ~ <Name>{C}-a</Name> !~ <Name>{C}</Name>"},
		)},
		one("a page size of 0 for containers", "GET /?comp=list&maxresults=0", "", "", "400 OutOfRangeQueryParameterValue"),
		one("a page size that is not a number", "GET /?comp=list&maxresults=many", "", "", "400 InvalidQueryParameterValue"),
	}
}
