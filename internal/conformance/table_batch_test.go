package conformance

import (
	"fmt"
	"strings"
)

// change returns one operation of a batch.
func change(request, body, headers string) string {
	return "--changeset_1\nContent-Type: application/http\nContent-Transfer-Encoding: binary\n\n" + request + " HTTP/1.1\n" +
		"Accept: application/json;odata=minimalmetadata\nContent-Type: application/json\nPrefer: return-no-content\n" +
		strings.ReplaceAll(headers, "|", "\n") + "\n\n" + body + "\n"
}

func batch(changes ...string) string {
	return "--batch_1\nContent-Type: multipart/mixed; boundary=changeset_1\n\n" + strings.Join(changes, "") + "--changeset_1--\n--batch_1--\n"
}

const mixed = "Content-Type: multipart/mixed; boundary=batch_1"

// https://learn.microsoft.com/rest/api/storageservices/performing-entity-group-transactions
func batchCases() []conversation {
	insert := func(pk, rk string) string { return change("POST {BASE}/{T}", row(pk, rk, ""), "") }
	numbered := func(rk, id string) string { return change("POST {BASE}/{T}", row("p", rk, ""), "Content-ID: "+id) }
	tricky := change("POST {BASE}/{T}", row("p", "n", `"A":"--changeset_1--"`), "")
	send := func(want string, changes ...string) step { return step{"POST /$batch", batch(changes...), mixed, want} }
	hundred := make([]string, 101)
	for i := range hundred {
		hundred[i] = insert("p", fmt.Sprint(i))
	}
	seed := step{"PUT " + at("p", "r"), `{"A":1}`, "", "204"}
	after := step{"GET " + at("p", "new"), "", "", "404 ResourceNotFound"}
	failing := func(title, want string, changes ...string) conversation {
		return conversation{title, []step{seed, send(want, changes...), after}}
	}
	row1 := func(pk, rk string) string { return row(pk, rk, "") }
	row := "{BASE}" + at("p", "r")
	return []conversation{
		{"a batch of every kind", []step{seed, send("202 ~ HTTP/1.1 204 No Content",
			insert("p", "i"), change("PUT "+row, `{"A":2}`, "If-Match: *"), change("PATCH {BASE}"+at("p", "m"), `{"A":2}`, ""),
			change("PUT {BASE}"+at("p", "u"), `{"A":2}`, "")),
			{"GET /{T}()?$select=RowKey&$filter=PartitionKey eq 'p'", "", bare, `200 ~ [{"RowKey":"i"},{"RowKey":"m"},{"RowKey":"r"},{"RowKey":"u"}]`},
		}},
		{"a batch that inserts at an address with parentheses", []step{send("202 ~ HTTP/1.1 204 No Content", change("POST {BASE}/{T}()", row1("p", "i"), "")), {"GET " + at("p", "i"), "", "", "200"}}},
		{"a batch with an entity of keys alone", []step{send("202 ~ HTTP/1.1 204 No Content", change("PUT {BASE}"+at("p", "u"), `{}`, "")), {"GET " + at("p", "u"), "", "", "200"}}},
		{"a batch of 100", []step{send("202 ~ HTTP/1.1 204 No Content", hundred[:100]...), {"GET " + at("p", "99"), "", "", "200"}}},
		failing("a batch of 101", "202 400 InvalidInput", hundred...),
		failing("a batch that inserts a row that is there", `202 409 EntityAlreadyExists ~ "1:`, insert("p", "new"), insert("p", "r")),
		failing("a batch that changes a missing row", `202 404 ResourceNotFound ~ "1:`, insert("p", "new"), change("PUT {BASE}"+at("p", "none"), `{"A":2}`, "If-Match: *")),
		failing("a batch on a stale version", `202 412 UpdateConditionNotSatisfied ~ "1:`, insert("p", "new"), change("PUT "+row, `{"A":2}`, `If-Match: W/"datetime'2001-01-01T00%3A00%3A00.0000000Z'"`)),
		failing("a batch with one row twice", "202 400 InvalidDuplicateRow", insert("p", "new"), change("PUT {BASE}"+at("p", "new"), `{"A":2}`, "")),
		failing("a batch over two partitions", `202 400 CommandsInBatchActOnDifferentPartitions ~ "1:`, insert("p", "new"), insert("q", "new")),
		failing("a batch that reads and writes", "202 400 InvalidInput", insert("p", "new"), change("GET "+row, "", "")),
		failing("an empty batch", "400 InvalidInput"),
		{"a batch with line feeds alone", []step{seed, {"POST /$batch", "\n" + batch(insert("p", "n")), mixed, "202 ~ HTTP/1.1 204 No Content"}, {"GET " + at("p", "n"), "", "", "200"}}},
		{"a batch with line ends of both kinds", []step{seed, {"POST /$batch", "\n" + strings.ReplaceAll(batch(insert("p", "n")), "binary\n\n", "binary\r\n\r\n"), mixed, "202 ~ HTTP/1.1 204 No Content"}, {"GET " + at("p", "n"), "", "", "200"}}},
		{"a batch between a preamble and an epilogue", []step{seed, {"POST /$batch", "\nbefore\n" + batch(insert("p", "n")) + "after\n", mixed, "202 ~ HTTP/1.1 204 No Content"}, {"GET " + at("p", "n"), "", "", "200"}}},
		{"a batch with a quoted boundary", []step{seed, {"POST /$batch", batch(insert("p", "n")), `Content-Type: multipart/mixed; boundary="batch_1"`, "202 ~ HTTP/1.1 204 No Content"}, {"GET " + at("p", "n"), "", "", "200"}}},
		{"a batch with its boundary in a value", []step{seed, send("202 ~ HTTP/1.1 204 No Content", tricky), {"GET " + at("p", "n"), "", "", `200 ~ "A":"--changeset_1--"`}}},
		{"the replies of a batch have the Content-IDs of its operations", []step{seed, send("202 ~ Content-ID: 5 ~ Content-ID: 6", numbered("n", "5"), numbered("m", "6"))}},
		{"a failed batch has the Content-ID of the operation that failed", []step{seed, send("202 409 EntityAlreadyExists ~ Content-ID: 6 !~ Content-ID: 5", numbered("new", "5"), numbered("r", "6")), after}},
		{"a batch without its end", []step{seed, {"POST /$batch", strings.TrimSuffix(batch(insert("p", "new")), "--batch_1--\n"), mixed, "400 InvalidInput"}, after}},
		{"a batch of one read", []step{seed, {"POST /$batch",
			"--batch_1\nContent-Type: application/http\nContent-Transfer-Encoding: binary\n\nGET " + row + " HTTP/1.1\nAccept: application/json;odata=nometadata\n\n\n--batch_1--\n", mixed, `202 ~ "A":1`}}},
	}
}
