package conformance

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestTableService(t *testing.T) {
	script{
		service: tables,
		open:    step{"POST /Tables", `{"TableName":"{T}"}`, "", "201"},
		close:   step{"DELETE /Tables('{T}')", "", "", "204"},
		cases: join(tableCases(), tableDocumentCases(), writeCases(), conditionCases(), valueCases(), keyCases(), limitCases(),
			queryCases(), pageCases(), formatCases(), metadataCases(), languageCases(), batchCases(), signatureCases(), tableSecondaryCases()),
		differs: tableDifferences,
	}.onBoth(t)
}

// at returns the address of a row.
func at(pk, rk string) string {
	return "/{T}(PartitionKey='" + url.PathEscape(strings.ReplaceAll(pk, "'", "''")) + "',RowKey='" + url.PathEscape(strings.ReplaceAll(rk, "'", "''")) + "')"
}

// row returns the body of an insert with further members.
func row(pk, rk, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"PartitionKey":%q,"RowKey":%q%s}`, pk, rk, members)
}

// https://learn.microsoft.com/rest/api/storageservices/operations-on-tables
func tableCases() []conversation {
	create := func(name string) string { return `{"TableName":"` + name + `"}` }
	refused := func(title, name, want string) conversation {
		return conversation{title, []step{{"POST /Tables", create(name), "", want}}}
	}
	return []conversation{
		{"a created table is echoed", []step{
			{"POST /Tables", create("{T}x"), "", `201 ~ "TableName":"{T}x"`},
			{"POST /Tables", create("{T}y"), "Prefer: return-no-content", "204"},
			{"DELETE /Tables('{T}x')", "", "", "204"}, {"DELETE /Tables('{T}y')", "", "", "204"},
		}},
		{"a table is created once", []step{{"POST /Tables", create("{T}"), "", "409 TableAlreadyExists"}}},
		{"table names ignore case on creation", []step{{"POST /Tables", create("{t}"), "", "409 TableAlreadyExists"}}},
		{"a table without a name", []step{{"POST /Tables", `{"Name":"abc"}`, "", "400 PropertiesNeedValue"}}},
		refused("a table name of two letters", "ab", "400 OutOfRangeInput"),
		refused("a table name of 64 letters", strings.Repeat("a", 64), "400 OutOfRangeInput"),
		refused("a table name with a dash", "ab-cd", "400 InvalidResourceName"),
		refused("a table name that begins with a digit", "1abc", "400 InvalidResourceName"),
		refused("a table called tables", "tables", "400 InvalidInput"),
		{"a missing table cannot be deleted", []step{{"DELETE /Tables('{T}none')", "", "", "404 ResourceNotFound"}}},
		{"a deleted table is blocked", []step{
			{"DELETE /Tables('{T}')", "", "", "204"},
			{"POST /Tables", create("{T}"), "", "409 TableBeingDeleted"},
		}},
		{"tables are listed by a filter", []step{{"GET /Tables?$filter=TableName eq '{T}'", "", "", `200 ~ "value":[{"TableName":"{T}"}]`}}},
		{"a missing table differs from a missing row", []step{
			{"GET /{T}none()", "", "", "404 TableNotFound"},
			{"GET " + at("p", "r"), "", "", "404 ResourceNotFound"},
			{"POST /{T}none", row("p", "r", ""), "", "404 TableNotFound"},
		}},
		{"policies are kept", []step{
			{"PUT /{T}?comp=acl", `<SignedIdentifiers><SignedIdentifier><Id>one</Id><AccessPolicy><Start>2020-01-01T00:00:00Z</Start><Expiry>2030-01-01T00:00:00Z</Expiry><Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>`, "Content-Type: application/xml", "204"},
			{"GET /{T}?comp=acl", "", "Accept: application/xml", "200 ~ <Id>one</Id>"},
		}},
	}
}

// https://learn.microsoft.com/rest/api/storageservices/set-table-acl
// https://learn.microsoft.com/rest/api/storageservices/set-table-service-properties
func tableDocumentCases() []conversation {
	policy := func(n int, permission string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "<SignedIdentifier><Id>id%d</Id><AccessPolicy><Start>2020-01-01T00:00:00Z</Start><Expiry>2099-01-01T00:00:00Z</Expiry><Permission>%s</Permission></AccessPolicy></SignedIdentifier>", i, permission)
		}
		return "<SignedIdentifiers>" + b.String() + "</SignedIdentifiers>"
	}
	set := func(title, body, want string) conversation {
		return conversation{title, []step{{"PUT /{T}?comp=acl", body, "Accept: application/xml|Content-Type: application/xml", want}}}
	}
	return []conversation{
		set("five policies of a table", policy(5, "raud"), "204"),
		set("six policies of a table", policy(6, "r"), "400 InvalidXmlDocument"),
		set("a policy of a table with a permission of queues", policy(1, "p"), "400 InvalidXmlNodeValue"),
		set("a policy of a table without an id", "<SignedIdentifiers><SignedIdentifier/></SignedIdentifiers>", "400 InvalidXmlDocument"),
		set("a policy of a table with an id of 65 letters", strings.Replace(policy(1, "r"), "id0", strings.Repeat("i", 65), 1), "400 InvalidXmlDocument"),
		set("policies of a table that are not XML", "<Signed", "400 InvalidXmlDocument"),
		{"policies of a missing table", []step{{"GET /{T}none?comp=acl", "", "Accept: application/xml", "404 TableNotFound"}}},
		{"the table service has properties", []step{{"GET /?restype=service&comp=properties", "", "Accept: application/xml", "200 ~ <StorageServiceProperties> ~ <Logging> ~ <HourMetrics> ~ <MinuteMetrics>"}}},
		{"the primary endpoint of tables has no statistics", []step{{"GET /?restype=service&comp=stats", "", "Accept: application/xml", "400 InvalidQueryParameterValue"}}},
		{"properties of the table service that lack a part", []step{{"PUT /?restype=service&comp=properties", "<StorageServiceProperties><Logging><Version>1.0</Version></Logging></StorageServiceProperties>", "Accept: application/xml|Content-Type: application/xml", "400 InvalidXmlDocument"}}},
		{"metrics of the table service that are kept for 366 days", []step{{"PUT /?restype=service&comp=properties", metrics(366), "Accept: application/xml|Content-Type: application/xml", "400 InvalidXmlDocument"}}},
		{"properties of the table service that are not XML", []step{{"PUT /?restype=service&comp=properties", "<Storage", "Accept: application/xml|Content-Type: application/xml", "400 InvalidXmlDocument"}}},
	}
}

// https://learn.microsoft.com/rest/api/storageservices/inserting-and-updating-entities
func writeCases() []conversation {
	return []conversation{
		{"an insert echoes the row", []step{{"POST /{T}", row("p", "r", `"A":1`), "", `201 ~ "A":1`}}},
		{"an insert without content", []step{{"POST /{T}", row("p", "r", ""), "Prefer: return-no-content", "204 ~ Preference-Applied: return-no-content"}}},
		{"an insert of an existing row", []step{{"POST /{T}", row("p", "r", ""), "", "201"}, {"POST /{T}", row("p", "r", ""), "", "409 EntityAlreadyExists"}}},
		{"insert or replace inserts, then replaces", []step{
			{"PUT " + at("p", "r"), `{"A":1,"B":2}`, "", "204"}, {"PUT " + at("p", "r"), `{"A":3}`, "", "204"},
			{"GET " + at("p", "r") + "?$select=A,B", "", "Accept: application/json;odata=nometadata", `200 ~ "A":3`},
			{"GET /{T}()?$filter=B eq 2", "", "Accept: application/json;odata=nometadata", `200 ~ "value":[]`},
		}},
		{"insert or merge keeps what it does not name", []step{
			{"PATCH " + at("p", "r"), `{"A":1,"B":2}`, "", "204"}, {"PATCH " + at("p", "r"), `{"A":3,"B":null}`, "", "204"},
			{"GET /{T}()?$filter=A eq 3 and B eq 2", "", "Accept: application/json;odata=nometadata", `200 ~ "RowKey":"r"`},
		}},
		{"merge by MERGE and by POST", []step{
			{"PUT " + at("p", "r"), `{"A":1}`, "", "204"}, {"MERGE " + at("p", "r"), `{"B":2}`, "If-Match: *", "204"},
			{"POST " + at("p", "r"), `{"C":3}`, "If-Match: *|X-HTTP-Method: MERGE", "204"},
			{"GET /{T}()?$filter=A eq 1 and B eq 2 and C eq 3", "", "", `200 ~ "RowKey":"r"`},
		}},
		{"an address with a slash at its end", []step{
			{"POST /{T}/", row("p", "r", ""), "", "201"}, {"GET /{T}/", "", "", `200 ~ "RowKey":"r"`},
			{"POST /Tables/", `{"TableName":"{T}x"}`, "", "201"}, {"DELETE /Tables('{T}x')/", "", "", "204"},
		}},
		{"null is not stored", []step{{"POST /{T}", row("p", "r", `"A":null`), "", "201"}, {"GET " + at("p", "r"), "", "", `200 ~ "RowKey":"r"`}, {"GET /{T}()?$filter=not (A eq 1)", "", "", `200 ~ "RowKey":"r"`}}},
		{"the Timestamp of the client is ignored", []step{{"POST /{T}", row("p", "r", `"Timestamp":"2001-01-01T00:00:00Z"`), "", "201"}, {"GET /{T}()?$filter=Timestamp gt datetime'2020-01-01T00:00:00Z'", "", "", `200 ~ "RowKey":"r"`}}},
		{"a body that names another row", []step{{"PUT " + at("p", "r"), row("p", "other", ""), "", "400 InvalidInput"}}},
		{"a deleted row is gone", []step{
			{"PUT " + at("p", "r"), `{}`, "", "204"}, {"DELETE " + at("p", "r"), "", "If-Match: *", "204"},
			{"GET " + at("p", "r"), "", "", "404 ResourceNotFound"}, {"DELETE " + at("p", "r"), "", "If-Match: *", "404 ResourceNotFound"},
		}},
		{"X-HTTP-Method with another value", []step{{"POST " + at("p", "r"), `{}`, "X-HTTP-Method: GET", "400 XMethodIncorrectValue"}}},
		{"X-HTTP-Method without POST", []step{{"PUT " + at("p", "r"), `{}`, "X-HTTP-Method: MERGE", "400 XMethodNotUsingPost"}}},
	}
}

// https://github.com/Azure/Azurite/issues/1229 (weak ETags), https://github.com/Azure/azure-storage-net/issues/904 (strong),
// https://github.com/Azure/Azurite/issues/2013 (malformed)
func conditionCases() []conversation {
	const stale = `If-Match: W/"datetime'2001-01-01T00%3A00%3A00.0000000Z'"`
	var all []conversation
	for _, method := range []string{"PUT", "PATCH", "MERGE", "DELETE"} {
		all = append(all,
			conversation{method + " of a missing row on a condition", []step{{method + " " + at("p", "r"), `{}`, "If-Match: *", "404 ResourceNotFound"}}},
			conversation{method + " of a changed row", []step{{"PUT " + at("p", "r"), `{}`, "", "204"}, {method + " " + at("p", "r"), `{}`, stale, "412 UpdateConditionNotSatisfied"}}},
			conversation{method + " of any version", []step{{"PUT " + at("p", "r"), `{}`, "", "204"}, {method + " " + at("p", "r"), `{}`, "If-Match: *", "204"}}},
		)
	}
	return append(all,
		conversation{"a delete without a condition", []step{{"PUT " + at("p", "r"), `{}`, "", "204"}, {"DELETE " + at("p", "r"), "", "", "400 InvalidInput"}}},
		conversation{"a weak ETag of another form", []step{{"PUT " + at("p", "r"), `{}`, "", "204"}, {"PUT " + at("p", "r"), `{}`, `If-Match: W/"wrong"`, "412 UpdateConditionNotSatisfied"}}},
		conversation{"a strong ETag", []step{{"PUT " + at("p", "r"), `{}`, "", "204"}, {"PUT " + at("p", "r"), `{}`, `If-Match: "0"`, "400 InvalidInput"}}},
		conversation{"a weak ETag in small letters", []step{{"PUT " + at("p", "r"), `{}`, "", "204"}, {"PUT " + at("p", "r"), `{}`, `If-Match: w/"wrong"`, "400 InvalidInput"}}},
		conversation{"a malformed ETag", []step{{"PUT " + at("p", "r"), `{}`, "", "204"}, {"PUT " + at("p", "r"), `{}`, "If-Match: abc", "400 InvalidInput"}}},
	)
}
