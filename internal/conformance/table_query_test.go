package conformance

import (
	"fmt"
	"strings"
)

const bare = "Accept: application/json;odata=nometadata"

// sample returns steps that insert rows with properties of every type.
func sample() []step {
	return []step{
		{"PUT " + at("a", "1"), `{"S":"x","I":5,"D":1.5,"B":true}`, "", "204"},
		{"PUT " + at("a", "2"), `{"L@odata.type":"Edm.Int64","L":"5","T@odata.type":"Edm.DateTime","T":"2020-01-02T03:04:05.1234567Z"}`, "", "204"},
		{"PUT " + at("b", "1"), `{"G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833","X@odata.type":"Edm.Binary","X":"AQID","O":"o'n"}`, "", "204"},
	}
}

// https://learn.microsoft.com/rest/api/storageservices/querying-tables-and-entities
func queryCases() []conversation {
	var all []conversation
	// The rows that each filter matches, as PartitionKey and RowKey.
	for _, f := range [][2]string{
		{"PartitionKey eq 'a'", "a1 a2"},
		{"PartitionKey eq 'a' and RowKey ge '2'", "a2"},
		{"PartitionKey gt 'a' or RowKey lt '2'", "a1 b1"},
		{"not (PartitionKey eq 'a')", "b1"},
		{"S eq 'x'", "a1"}, {"S ne 'y'", "a1"}, {"S eq 'X'", ""},
		{"I eq 5", "a1"}, {"I gt 5", ""}, {"I le 5", "a1"},
		{"L eq 5L", "a2"}, {"L eq '5'", ""}, {"I eq 5L", ""},
		{"D eq 1.5", "a1"}, {"D lt 1.5e1", "a1"},
		{"B eq true", "a1"}, {"B eq false", ""},
		{"T eq datetime'2020-01-02T03:04:05.1234567Z'", "a2"}, {"T gt datetime'2020-01-02T03:04:05.1234566Z'", "a2"},
		{"G eq guid'c9da6455-213d-42c9-9a79-3e9149a57833'", "b1"}, {"G eq guid'C9DA6455-213D-42C9-9A79-3E9149A57833'", "b1"},
		{"X eq X'010203'", "b1"}, {"X eq binary'010203'", "b1"},
		{"O eq 'o''n'", "b1"},
		{"Missing eq 1", ""}, {"Missing ne 1", ""},
		// Predicates of C# contain literals alone: https://github.com/Azure/Azurite/issues/1787
		{"true", "a1 a2 b1"}, {"false", ""}, {"true and RowKey eq '2'", "a2"}, {"(false or PartitionKey eq 'b') or I eq 5", "a1 b1"},
		{"T eq datetime'2020-01-02T04:04:05.1234567%2B01:00'", "a2"}, {"T gt datetime'2020-01-02'", "a2"},
	} {
		var rows []string
		for key := range strings.FieldsSeq(f[1]) {
			rows = append(rows, fmt.Sprintf(`{"PartitionKey":"%c","RowKey":"%c"}`, key[0], key[1]))
		}
		all = append(all, conversation{"filter " + f[0], append(sample(), step{
			"GET /{T}()?$select=PartitionKey,RowKey&$filter=" + f[0], "", bare, `200 ~ {"value":[` + strings.Join(rows, ",") + `]}`,
		})})
	}
	refused := func(title, query, want string) conversation {
		return conversation{title, []step{{"GET /{T}()?" + query, "", "", want}}}
	}
	fifteen := strings.TrimSuffix(strings.Repeat("I eq 1 or ", 15), " or ")
	return append(all,
		refused("15 comparisons", "$filter="+fifteen, "200"),
		refused("16 comparisons", "$filter="+fifteen+" or I eq 2", "400 InvalidInput"),
		refused("a filter that stops short", "$filter=I eq", "400 InvalidInput"),
		refused("a function call", "$filter=startswith(S,'x')", "501 NotImplemented"),
		refused("$orderby", "$orderby=S", "501 NotImplemented"),
		refused("$top of 1001", "$top=1001", "400 InvalidInput"),
		refused("a Boolean in capitals", "$filter=B eq True", "400 InvalidInput"),
		refused("an operator in capitals", "$filter=B eq true Or I eq 5", "400 InvalidInput"),
		refused("$top of 0", "$top=0", "400 InvalidInput"),
		refused("a comparison with null", "$filter=I eq null", "400 InvalidInput"),
		refused("a comparison of two properties", "$filter=I eq J", "400 InvalidInput"),
		refused("an unterminated string", "$filter=S eq 'x", "400 InvalidInput"),
		conversation{"blanks and brackets in a filter", append(sample(), step{"GET /{T}()?$select=RowKey&$filter=  ( (I  eq 5)and\t(S eq 'x') ) ", "", bare, `200 ~ {"value":[{"RowKey":"1"}]}`})},
		refused("$top that is not a number", "$top=many", "400 InvalidInput"),
		conversation{"a selected property that is missing", append(sample(), step{"GET /{T}()?$filter=I eq 5&$select=RowKey,Nope", "", bare, `200 ~ {"RowKey":"1","Nope":null}`})},
		conversation{"rows come in ordinal order", []step{
			{"PUT " + at("p", "a"), `{}`, "", "204"}, {"PUT " + at("p", "B"), `{}`, "", "204"}, {"PUT " + at("p", "2"), `{}`, "", "204"}, {"PUT " + at("p", "111"), `{}`, "", "204"},
			{"GET /{T}()?$select=RowKey", "", bare, `200 ~ [{"RowKey":"111"},{"RowKey":"2"},{"RowKey":"B"},{"RowKey":"a"}]`},
		}},
		conversation{"entities are found in a table name of another case", []step{
			{"PUT " + at("p", "r"), `{}`, "", "204"},
			{"GET /{t}()", "", "", `200 ~ "RowKey":"r"`},
		}},
	)
}

// https://learn.microsoft.com/rest/api/storageservices/query-timeout-and-pagination
func pageCases() []conversation {
	return []conversation{
		{"$top is the size of a page", append(sample(), step{"GET /{T}()?$top=2", "", bare, "200 ~ X-Ms-Continuation-Nextpartitionkey: "})},
		{"tables end without an empty page", []step{
			{"POST /Tables", `{"TableName":"{T}a"}`, "", "201"},
			{"POST /Tables", `{"TableName":"{T}b"}`, "", "201"},
			{"POST /Tables", `{"TableName":"{T}c"}`, "", "201"},
			{"GET /Tables?$top=2&$filter=TableName ge '{T}a' and TableName lt '{T}c'", "", bare, `200 ~ "TableName":"{T}b" !~ X-Ms-Continuation-Nexttablename`},
			{"DELETE /Tables('{T}a')", "", "", "204"}, {"DELETE /Tables('{T}b')", "", "", "204"}, {"DELETE /Tables('{T}c')", "", "", "204"},
		}},
		{"a made-up token", []step{{"GET /{T}()?NextPartitionKey=made!up", "", "", "400 InvalidInput"}}},
	}
}

func formatCases() []conversation {
	return []conversation{
		{"no metadata", append(sample(), step{"GET " + at("a", "2"), "", bare, `200 ~ "L":"5","T":"2020-01-02T03:04:05.1234567Z"`})},
		{"minimal metadata", append(sample(), step{"GET " + at("a", "2"), "", "", `200 ~ "L@odata.type":"Edm.Int64","L":"5","T@odata.type":"Edm.DateTime"`})},
		{"full metadata", append(sample(), step{"GET " + at("a", "2"), "", "Accept: application/json;odata=fullmetadata", `200 ~ "odata.id":"{BASE}/{T}(PartitionKey='a',RowKey='2')"`})},
		{"Atom is not supported", append(sample(), step{"GET " + at("a", "2"), "", "Accept: application/atom+xml", "415 AtomFormatNotSupported"})},
		{"an invalid method", []step{{"PUT /{T}", `{}`, "", "405 MethodNotAllowed"}}},
	}
}
