package conformance

import "fmt"

const (
	noMetadata   = "Accept: application/json;odata=nometadata"
	minimal      = "Accept: application/json;odata=minimalmetadata"
	fullMetadata = "Accept: application/json;odata=fullmetadata"
)

// https://learn.microsoft.com/rest/api/storageservices/payload-format-for-table-service-operations
func metadataCases() []conversation {
	every := row("p", "r", `"S":"x","I":5,"D":1.5,"B":true,"L@odata.type":"Edm.Int64","L":"7","T@odata.type":"Edm.DateTime","T":"2020-01-02T03:04:05.1234567Z",`+
		`"G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833","X@odata.type":"Edm.Binary","X":"AQID"`)
	const (
		bareValues = ` ~ "S":"x" ~ "I":5 ~ "D":1.5 ~ "B":true ~ "L":"7" ~ "T":"2020-01-02T03:04:05.1234567Z" ~ "G":"c9da6455-213d-42c9-9a79-3e9149a57833" ~ "X":"AQID"`
		types      = ` ~ "L@odata.type":"Edm.Int64" ~ "T@odata.type":"Edm.DateTime" ~ "G@odata.type":"Edm.Guid" ~ "X@odata.type":"Edm.Binary" !~ "S@odata !~ "I@odata !~ "B@odata`
		links      = ` ~ "odata.type":"devstoreaccount1.{T}" ~ "odata.id":"{BASE}/{T}(PartitionKey='p',RowKey='r')" ~ "odata.editLink":"{T}(PartitionKey='p',RowKey='r')" ~ "odata.etag":"W/\"datetime'{*}'\"" ~ "Timestamp@odata.type":"Edm.DateTime"`
	)
	stored := step{"POST /{T}", every, "Prefer: return-no-content", "204"}
	var all []conversation
	for _, level := range []struct{ name, header, want string }{
		{"no metadata", noMetadata, bareValues + ` !~ odata.`},
		{"minimal metadata", minimal, bareValues + types + ` ~ "odata.metadata":"{BASE}/$metadata#{T}`},
		{"full metadata", fullMetadata, bareValues + types + links + ` ~ "odata.metadata":"{BASE}/$metadata#{T}`},
	} {
		all = append(all,
			conversation{"a row with " + level.name, []step{stored, {"GET " + at("p", "r"), "", level.header, `200 ~ Etag: W/ ~ Content-Type: application/json` + level.want}}},
			conversation{"a query with " + level.name, []step{stored, {"GET /{T}()?$filter=PartitionKey eq 'p'", "", level.header, `200 ~ "value":[{` + level.want}}},
			conversation{"an insert with " + level.name, []step{{"POST /{T}", every, level.header, "201" + level.want}}},
		)
	}
	return append(all,
		conversation{"tables with no metadata", []step{{"GET /Tables?$filter=TableName eq '{T}'", "", noMetadata, `200 ~ {"value":[{"TableName":"{T}"}]} !~ odata.`}}},
		conversation{"tables with minimal metadata", []step{{"GET /Tables?$filter=TableName eq '{T}'", "", minimal, `200 ~ "odata.metadata":"{BASE}/$metadata#Tables" ~ {"TableName":"{T}"}`}}},
		conversation{"tables with full metadata", []step{{"GET /Tables?$filter=TableName eq '{T}'", "", fullMetadata, `200 ~ "odata.type":"devstoreaccount1.Tables" ~ "odata.id":"{BASE}/Tables('{T}')" ~ "odata.editLink":"Tables('{T}')" ~ "TableName":"{T}"`}}},
		conversation{"the format as a parameter", []step{stored, {"GET " + at("p", "r") + "?$format=application/json;odata=nometadata", "", "Accept: ", `200 ~ "L":"7" !~ odata.`}}},
		conversation{"the format as an encoded parameter", []step{stored, {"GET /{T}()?%24format=application%2Fjson%3Bodata%3Dfullmetadata", "", "Accept: ", `200 ~ "odata.editLink":`}}},
		conversation{"the format of an insert as a parameter", []step{{"POST /{T}?$format=application/json;odata=fullmetadata", every, minimal, `201 ~ "odata.editLink":`}}},
		conversation{"the format of an insert in its header", []step{{"POST /{T}", every, fullMetadata, `201 ~ "odata.editLink":`}}},
		conversation{"a projection with minimal metadata", []step{stored, {"GET /{T}()?$select=L,S", "", minimal, `200 ~ "L@odata.type":"Edm.Int64","L":"7" ~ "S":"x" !~ "I":5 !~ "PartitionKey"`}}},
		conversation{"a projection with no metadata", []step{stored, {"GET /{T}()?$select=L,S", "", noMetadata, `200 ~ "L":"7" ~ "S":"x" !~ "I":5 !~ odata.`}}},
		conversation{"an empty reply of a query", []step{{"GET /{T}()", "", noMetadata, `200 ~ {"value":[]}`}}},
		conversation{"a quote and a blank in an address", []step{
			{"POST /{T}", row("it's", "a b", ""), "", "201"},
			{"GET " + at("it's", "a b"), "", fullMetadata, `200 ~ "PartitionKey":"it's"`},
		}},
		conversation{"the ETag of a row is weak and the same everywhere", []step{
			{"POST /{T}", row("p", "r", ""), minimal, `201 ~ Etag: W/"datetime'{=time}'"`},
			{"GET " + at("p", "r"), "", minimal, `200 ~ Etag: W/"datetime'{time}'" ~ "odata.etag":"W/\"datetime'{time}'\""`},
			{"PUT " + at("p", "r"), `{"A":1}`, `If-Match: W/"datetime'{time}'"`, `204 ~ Etag: W/"datetime'{=next}'" !~ '{time}'`},
			{"PUT " + at("p", "r"), `{"A":2}`, `If-Match: W/"datetime'{time}'"`, "412 UpdateConditionNotSatisfied"},
			{"PUT " + at("p", "r"), `{"A":2}`, `If-Match: W/"datetime'{next}'"`, "204"},
		}},
	)
}

// sdk describes how the SDK of a language sends its requests.
type sdk struct{ name, read, write string }

var sdks = []sdk{
	{".NET", "DataServiceVersion: 3.0|Accept: application/json; odata=minimalmetadata|User-Agent: azsdk-net-Data.Tables/12.9.1", "Content-Type: application/json; odata=nometadata"},
	{"Java", "DataServiceVersion: 3.0|Accept: application/json;odata=fullmetadata|User-Agent: azsdk-java-azure-data-tables/12.5.0", "Content-Type: application/json"},
	{"Python", "DataServiceVersion: 3.0|Accept: application/json;odata=minimalmetadata|Accept-Encoding: identity|User-Agent: azsdk-python-data-tables/12.5.0", "Content-Type: application/json;odata=nometadata"},
	{"JavaScript", "dataserviceversion: 3.0|Accept: application/json;odata=minimalmetadata|Accept-Encoding: identity|User-Agent: azsdk-js-data-tables/13.3.0", "Content-Type: application/json;odata=nometadata"},
	{"C++", "DataServiceVersion: 3.0;NetFx|Accept: application/json;odata=fullmetadata|User-Agent: azsdk-cpp-tables/1.0.0", "Content-Type: application/json"},
	{"the old .NET", "MaxDataServiceVersion: 3.0;NetFx|Accept: application/json;odata=minimalmetadata|Accept-Charset: UTF-8|User-Agent: Azure-Storage/9.3.2 (.NET CLR 4.0)", "Content-Type: application/json"},
}

// languageCases returns the requests with which the SDKs of other languages insert, read, change and delete a row.
func languageCases() []conversation {
	var all []conversation
	for _, s := range sdks {
		write := s.read + "|" + s.write
		all = append(all,
			conversation{fmt.Sprintf("a row's life by %s", s.name), []step{
				{"POST /{T}", `{"PartitionKey":"p","RowKey":"r","N":1,"L@odata.type":"Edm.Int64","L":"7"}`, write + "|Prefer: return-no-content", "204 ~ Etag: {=etag} ~ Preference-Applied: return-no-content"},
				{"GET /{T}(PartitionKey='p',RowKey='r')", "", s.read, `200 ~ "N":1 ~ "L@odata.type":"Edm.Int64","L":"7"`},
				{"GET /{T}(PartitionKey=%27p%27,RowKey=%27r%27)", "", s.read, `200 ~ "N":1`},
				{"PATCH " + at("p", "r"), `{"PartitionKey":"p","RowKey":"r","M":2}`, write + "|If-Match: {etag}", "204 ~ Etag: {=next}"},
				{"PUT " + at("p", "r"), `{"PartitionKey":"p","RowKey":"r","M":3}`, write + "|If-Match: {etag}", "412 UpdateConditionNotSatisfied"},
				{"PUT " + at("p", "r"), `{"PartitionKey":"p","RowKey":"r","M":3}`, write, "204"},
				{"GET /{T}()?$filter=M%20eq%203&$top=10", "", s.read, `200 ~ "M":3 !~ "N":1`},
				{"GET /{T}?%24filter=PartitionKey%20eq%20%27p%27&%24select=RowKey", "", s.read, `200 ~ "RowKey":"r" !~ "M":3`},
				{"DELETE " + at("p", "r"), "", s.read + "|If-Match: *", "204"},
				{"GET " + at("p", "r"), "", s.read, "404 ResourceNotFound"},
			}},
			conversation{fmt.Sprintf("a batch by %s", s.name), []step{
				{"POST /$batch", batch(
					change("POST {BASE}/{T}", row("p", "1", ""), s.read),
					change("PATCH {BASE}"+at("p", "2"), `{"PartitionKey":"p","RowKey":"2","A":1}`, "DataServiceVersion: 3.0"),
				), mixed + "|" + s.read, "202 ~ HTTP/1.1 204 No Content ~ Content-Type: multipart/mixed; boundary=batchresponse_"},
				{"GET /{T}()", "", s.read, `200 ~ "RowKey":"1" ~ "RowKey":"2"`},
			}},
		)
	}
	return all
}
