package conformance

// https://learn.microsoft.com/rest/api/storageservices/create-service-sas
func signatureCases() []conversation {
	seeded := func(rest ...step) []step {
		return append([]step{
			{"PUT " + at("a", "1"), `{}`, "", "204"}, {"PUT " + at("b", "1"), `{}`, "", "204"},
			{"PUT " + at("b", "2"), `{}`, "", "204"}, {"PUT " + at("c", "1"), `{}`, "", "204"},
		}, rest...)
	}
	with := func(parameters string) string { return "Sas: tn={T}&" + parameters }
	const (
		mismatch = "403 AuthorizationPermissionMismatch"
		failure  = "403 AuthorizationFailure"
		bad      = "403 AuthenticationFailed"
		pair     = "sp=raud&spk=b&srk=1&epk=b&erk=1" // only the row (b, 1)
	)
	one := func(name, request, body, sas, want string) conversation {
		return conversation{"a signature " + name, seeded(step{request, body, with(sas), want})}
	}
	change1 := func(rk string) string { return batch(change("PUT {BASE}"+at("b", rk), `{"A":1}`, "")) }
	policy := `<SignedIdentifiers><SignedIdentifier><Id>one</Id><AccessPolicy><Start>2020-01-01T00:00:00Z</Start><Expiry>2099-01-01T00:00:00Z</Expiry><Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>`
	return []conversation{
		one("to read reads", "GET "+at("a", "1"), "", "sp=r", "200"),
		one("to read queries", "GET /{T}()", "", "sp=r", `200 ~ "PartitionKey":"c"`),
		one("to read does not insert", "POST /{T}", row("p", "r", ""), "sp=r", mismatch),
		{"a signature to read does not delete", seeded(step{"DELETE " + at("a", "1"), "", with("sp=r") + "|If-Match: *", mismatch})},
		one("to add inserts at an address with a slash", "POST /{T}/", row("p", "r", ""), "sp=a", "201"),
		one("to add inserts", "POST /{T}", row("p", "r", ""), "sp=a", "201"),
		one("to add does not upsert", "PUT "+at("a", "1"), `{}`, "sp=a", mismatch),
		one("to update does not upsert", "PUT "+at("a", "1"), `{}`, "sp=u", mismatch),
		one("to add and update upserts", "PUT "+at("a", "1"), `{}`, "sp=au", "204"),
		{"a signature to update updates", seeded(step{"PUT " + at("a", "1"), `{}`, with("sp=u") + "|If-Match: *", "204"})},
		{"a signature to delete deletes", seeded(step{"DELETE " + at("a", "1"), "", with("sp=d") + "|If-Match: *", "204"})},
		one("for a range reads in it", "GET "+at("b", "1"), "", pair, "200"),
		one("for a range does not read before it", "GET "+at("a", "1"), "", pair, failure),
		one("for a range does not read beyond it", "GET "+at("b", "2"), "", pair, failure),
		one("for a range queries what is in it", "GET /{T}()?$select=PartitionKey,RowKey", "", pair, `200 ~ "PartitionKey":"b" !~ "PartitionKey":"a" !~ "PartitionKey":"c" !~ "RowKey":"2"`),
		one("for a range does not insert outside", "POST /{T}", row("b", "9", ""), pair, failure),
		one("for partitions reaches from the first to the last", "GET /{T}()?$select=PartitionKey", "", "sp=r&spk=b&epk=b", `200 ~ "PartitionKey":"b" !~ "PartitionKey":"a" !~ "PartitionKey":"c"`),
		{"a signature runs a batch", seeded(step{"POST /$batch", change1("1"), mixed + "|" + with("sp=raud"), "202 ~ HTTP/1.1 204 No Content"})},
		{"a signature for a range runs no batch outside", seeded(step{"POST /$batch", change1("2"), mixed + "|" + with(pair), "202 " + failure})},
		one("ignores the case of the table", "GET "+at("a", "1"), "", "tn={t}&sp=r", "200"),
		{"a signature of another table", seeded(step{"GET " + at("a", "1"), "", "Sas: tn=other&sp=r", failure})},
		one("with another in front of it", "GET "+at("a", "1"), "", "sp=r&sig=AAAA", bad),
		one("that has expired", "GET "+at("a", "1"), "", "sp=r&se=2020-01-01T00:00:00Z", bad),
		one("that is not yet valid", "GET "+at("a", "1"), "", "sp=r&st=2090-01-01T00:00:00Z&se=2099-01-01T00:00:00Z", bad),
		one("for https only", "GET "+at("a", "1"), "", "sp=r&spr=https", "403 AuthorizationProtocolMismatch"),
		one("for another address", "GET "+at("a", "1"), "", "sp=r&sip=168.1.5.60", "403 AuthorizationSourceIPMismatch"),
		one("creates no table", "POST /Tables", `{"TableName":"{T}x"}`, "sp=raud", failure),
		{"a signature of a stored policy", seeded(
			step{"PUT /{T}?comp=acl", policy, "Content-Type: application/xml", "204"},
			step{"GET " + at("a", "1"), "", with("si=one"), "200"},
			step{"POST /{T}", row("p", "r", ""), with("si=one"), mismatch},
			step{"PUT /{T}?comp=acl", "<SignedIdentifiers/>", "Content-Type: application/xml", "204"},
			step{"GET " + at("a", "1"), "", with("si=one"), bad},
		)},
	}
}
