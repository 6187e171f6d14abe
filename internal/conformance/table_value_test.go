package conformance

import (
	"fmt"
	"strings"
)

// https://learn.microsoft.com/rest/api/storageservices/payload-format-for-table-service-operations
// https://learn.microsoft.com/rest/api/storageservices/formatting-datetime-values
// https://github.com/Azure/Azurite/issues/1947 (Booleans in capitals)
func valueCases() []conversation {
	stored := func(title, members, echoed string) conversation {
		return conversation{title, []step{{"POST /{T}", row("p", "r", members), "", "201"}, {"GET " + at("p", "r"), "", "", "200 ~ " + echoed}}}
	}
	refused := func(title, members, want string) conversation {
		return conversation{title, []step{{"POST /{T}", row("p", "r", members), "", want}}}
	}
	typed := func(typ, text string) string { return `"X@odata.type":"Edm.` + typ + `","X":` + text }
	const one = "PartitionKey eq 'p' and "
	return []conversation{
		{"the Timestamp and the ETag of a row agree to the last digit", []step{
			{"PUT " + at("p", "r"), `{}`, "", `204 ~ Etag: W/"datetime'{=date}T{=hour}%3A{=minute}%3A{=second}'"`},
			{"GET " + at("p", "r"), "", "", `200 ~ "Timestamp":"{date}T{hour}:{minute}:{second}"`},
			{"GET /{T}()?$filter=" + one + "Timestamp eq datetime'{date}T{hour}:{minute}:{second}'", "", "", `200 ~ "RowKey":"r"`},
		}},
		stored("a string", `"X":"a\"\\é😀\n"`, `"X":"a\"\\é😀\n"`),
		stored("an Int32", `"X":-2147483648`, `"X":-2147483648`),
		stored("an Int64", typed("Int64", `"-9223372036854775808"`), typed("Int64", `"-9223372036854775808"`)),
		stored("a fraction", `"X":1.5`, `"X":1.5`),
		stored("a whole Double", typed("Double", "3"), `"X":3.0`),
		stored("a Double written with a point", `"X":3.0`, `"X":3.0`),
		stored("not a number", typed("Double", `"NaN"`), typed("Double", `"NaN"`)),
		stored("infinity", typed("Double", `"-Infinity"`), typed("Double", `"-Infinity"`)),
		stored("a Boolean", `"X":true`, `"X":true`),
		stored("a DateTime of 100 ns", typed("DateTime", `"2020-01-02T03:04:05.1234567Z"`), typed("DateTime", `"2020-01-02T03:04:05.1234567Z"`)),
		stored("a DateTime without a zone", typed("DateTime", `"2023-01-01T23:00:00"`), typed("DateTime", `"2023-01-01T23:00:00Z"`)),
		stored("a DateTime without seconds", typed("DateTime", `"2023-01-01T23:00"`), typed("DateTime", `"2023-01-01T23:00:00Z"`)),
		stored("a DateTime with an offset", typed("DateTime", `"2023-01-01T23:00:00.5+01:30"`), typed("DateTime", `"2023-01-01T21:30:00.5Z"`)),
		stored("a DateTime with the date only", typed("DateTime", `"2023-01-01"`), typed("DateTime", `"2023-01-01T00:00:00Z"`)),
		refused("a DateTime of eight decimals", typed("DateTime", `"2023-01-01T23:00:00.12345678Z"`), "400 InvalidValueType"),
		refused("a DateTime with a comma", typed("DateTime", `"2023-01-01T23:00:00,5Z"`), "400 InvalidValueType"),
		refused("a DateTime with the hour only", typed("DateTime", `"2023-01-01T23Z"`), "400 InvalidValueType"),
		refused("a DateTime of another order", typed("DateTime", `"01/02/2023"`), "400 InvalidValueType"),
		stored("a Boolean as a text in capitals", typed("Boolean", `"True"`), `"X":true`),
		stored("a Guid", typed("Guid", `"c9da6455-213d-42c9-9a79-3e9149a57833"`), typed("Guid", `"c9da6455-213d-42c9-9a79-3e9149a57833"`)),
		stored("a Binary", typed("Binary", `"AQID"`), typed("Binary", `"AQID"`)),
		refused("an Int64 out of range", typed("Int64", `"9223372036854775808"`), "400 InvalidValueType"),
		refused("an Int64 that is not a number", typed("Int64", `"x"`), "400 InvalidValueType"),
		refused("a whole number beyond Int32", `"X":2147483648`, "400 InvalidInput"),
		refused("a DateTime before 1601", typed("DateTime", `"1600-12-31T00:00:00Z"`), "400 OutOfRangeInput"),
		refused("an invalid DateTime", typed("DateTime", `"yesterday"`), "400 InvalidValueType"),
		refused("an invalid Guid", typed("Guid", `"x"`), "400 InvalidValueType"),
		refused("a Binary that is not base64", typed("Binary", `"?"`), "400 InvalidValueType"),
		refused("an unknown type", typed("Time", `"x"`), "400 InvalidInput"),
		refused("an object as a value", `"X":{"A":1}`, "400 InvalidInput"),
		refused("a property name with a dash", `"a-b":1`, "400 PropertyNameInvalid"),
		refused("a property given twice", `"A":1,"A":2`, "400 DuplicatePropertiesSpecified"),
		{"a body that is not JSON", []step{{"POST /{T}", `{"PartitionKey":`, "", "400 InvalidInput"}}},
		{"no row key", []step{{"POST /{T}", `{"PartitionKey":"p"}`, "", "400 PropertiesNeedValue"}}},
		{"a null partition key", []step{{"POST /{T}", `{"PartitionKey":null,"RowKey":"r"}`, "", "400 PropertiesNeedValue"}}},
	}
}

// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#characters-disallowed-in-key-fields
func keyCases() []conversation {
	var all []conversation
	for _, k := range []string{"", "a b", "o'neill", "100%", "a+b&c=d", "é😀", "(x)", strings.Repeat("k", 512)} {
		title := k
		if len(k) > 20 {
			title = "512 letters"
		}
		all = append(all, conversation{"the row key " + fmt.Sprintf("%q", title), []step{
			{"POST /{T}", row("p", k, ""), "", "201"}, {"GET " + at("p", k), "", "", fmt.Sprintf("200 ~ \"RowKey\":%q", k)},
		}})
	}
	for _, c := range []string{"/", "\\", "#", "?", "\t", "\u0085"} {
		all = append(all, conversation{fmt.Sprintf("a row key with %q", c), []step{
			{"POST /{T}", strings.ReplaceAll(row("p", "aXb", ""), "X", map[string]string{"\\": `\\`, "\t": `\t`}[c]+strings.NewReplacer("\\", "", "\t", "").Replace(c)), "", "400 OutOfRangeInput"},
		}})
	}
	return append(all, conversation{"a row key of 513 letters", []step{{"POST /{T}", row("p", strings.Repeat("k", 513), ""), "", "400 PropertyValueTooLarge"}}})
}

func limitCases() []conversation {
	many := func(n int) string {
		p := make([]string, n)
		for i := range p {
			p[i] = fmt.Sprintf(`"P%d":1`, i)
		}
		return strings.Join(p, ",")
	}
	wide := func(n int) string {
		p := make([]string, n)
		for i := range p {
			p[i] = fmt.Sprintf(`"P%d":"%s"`, i, strings.Repeat("x", 32700))
		}
		return strings.Join(p, ",")
	}
	one := func(title, members, want string) conversation {
		return conversation{title, []step{{"POST /{T}", row("p", "r", members), "Prefer: return-no-content", want}}}
	}
	return []conversation{
		one("252 properties", many(252), "204"),
		one("253 properties", many(253), "400 TooManyProperties"),
		one("a property name of 255 letters", `"`+strings.Repeat("n", 255)+`":1`, "204"),
		one("a property name of 256 letters", `"`+strings.Repeat("n", 256)+`":1`, "400 PropertyNameTooLong"),
		one("a string of 32,768 letters", `"S":"`+strings.Repeat("x", 32768)+`"`, "204"),
		one("a string of 32,769 letters", `"S":"`+strings.Repeat("x", 32769)+`"`, "400 PropertyValueTooLarge"),
		one("an entity of 1 MiB", wide(15), "204"),
		one("an entity over 1 MiB", wide(17), "400 EntityTooLarge"),
		{"a body over 4 MiB", []step{{"POST /{T}", row("p", "r", wide(130)), "", "413 RequestBodyTooLarge"}}},
	}
}
