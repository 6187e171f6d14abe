package conformance

const (
	mine   = "11111111-2222-3333-4444-555555555555"
	theirs = "99999999-2222-3333-4444-555555555555"
)

// lease returns a step with one operation on the lease of a blob or, with restype, of a container.
func lease(at, action, headers, want string) step {
	return step{"PUT " + at + "comp=lease", "", "x-ms-lease-action: " + action + "|" + headers, want}
}

// held returns steps that first create a blob with an infinite lease.
func held(rest ...step) []step {
	return append(on(lease("/{C}/b?", "acquire", "x-ms-lease-duration: -1|x-ms-proposed-lease-id: "+mine, "201 ~ X-Ms-Lease-Id: "+mine)), rest...)
}

const id, other = "x-ms-lease-id: " + mine, "x-ms-lease-id: " + theirs

// https://learn.microsoft.com/rest/api/storageservices/lease-blob
func leaseCases() []conversation {
	const at = "/{C}/b?"
	return []conversation{
		{"a lease of limited duration", on(
			lease(at, "acquire", "x-ms-lease-duration: 15", "201 ~ X-Ms-Lease-Id: {=lease} ~ Etag: {etag}"),
			step{"HEAD /{C}/b", "", "", "200 ~ X-Ms-Lease-State: leased ~ X-Ms-Lease-Status: locked ~ X-Ms-Lease-Duration: fixed"},
			lease(at, "renew", "x-ms-lease-id: {lease}", "200 ~ X-Ms-Lease-Id: {lease}"),
			lease(at, "release", "x-ms-lease-id: {lease}", "200"),
			step{"HEAD /{C}/b", "", "", "200 ~ X-Ms-Lease-State: available ~ X-Ms-Lease-Status: unlocked"},
		)},
		{"an infinite lease", held(step{"HEAD /{C}/b", "", "", "200 ~ X-Ms-Lease-Duration: infinite"})},
		{"a lease is acquired again by its holder", held(lease(at, "acquire", "x-ms-lease-duration: 60|x-ms-proposed-lease-id: "+mine, "201"))},
		{"a lease is refused to another", held(lease(at, "acquire", "x-ms-lease-duration: -1|x-ms-proposed-lease-id: "+theirs, "409 LeaseAlreadyPresent"))},
		{"a lease changes its id", held(
			lease(at, "change", id+"|x-ms-proposed-lease-id: "+theirs, "200 ~ X-Ms-Lease-Id: "+theirs),
			lease(at, "renew", id, "409 LeaseIdMismatchWithLeaseOperation"),
			lease(at, "renew", other, "200"),
		)},
		{"an infinite lease is broken immediately", held(
			lease(at, "break", "", "202 ~ X-Ms-Lease-Time: 0"),
			step{"HEAD /{C}/b", "", "", "200 ~ X-Ms-Lease-State: broken ~ X-Ms-Lease-Status: unlocked"},
			lease(at, "renew", id, "409 LeaseIsBrokenAndCannotBeRenewed"),
			lease(at, "acquire", "x-ms-lease-duration: -1|x-ms-proposed-lease-id: "+theirs, "201"),
		)},
		{"a lease is broken after a period", held(
			lease(at, "break", "x-ms-lease-break-period: 30", "202 ~ X-Ms-Lease-Time: {*}"),
			step{"HEAD /{C}/b", "", "", "200 ~ X-Ms-Lease-State: breaking ~ X-Ms-Lease-Status: locked"},
			lease(at, "acquire", "x-ms-lease-duration: -1|x-ms-proposed-lease-id: "+theirs, "409 LeaseAlreadyPresent"),
			lease(at, "acquire", "x-ms-lease-duration: -1|x-ms-proposed-lease-id: "+mine, "409 LeaseIsBreakingAndCannotBeAcquired"),
			lease(at, "change", id+"|x-ms-proposed-lease-id: "+theirs, "409 LeaseIsBreakingAndCannotBeChanged"),
			lease(at, "release", id, "200"),
		)},
		{"the holder of the lease can write", held(
			step{"PUT /{C}/b", "new", block + "|" + id, "201"},
			step{"PUT /{C}/b?comp=metadata", "", "x-ms-meta-a: 1|" + id, "200"},
			step{"GET /{C}/b", "", id, "200 ~ new"},
			step{"DELETE /{C}/b", "", id, "202"},
		)},
		{"a lease is on a condition", on(
			lease(at, "acquire", "x-ms-lease-duration: -1|If-Match: "+stale, "412 ConditionNotMet"),
			lease(at, "acquire", "x-ms-lease-duration: -1|If-Match: {etag}", "201"),
		)},
		{"a leased blob is listed as one", held(step{"GET /{C}?restype=container&comp=list", "", "", "200 ~ <LeaseStatus>locked</LeaseStatus> ~ <LeaseState>leased</LeaseState> ~ <LeaseDuration>infinite</LeaseDuration>"})},
		{"a leased blob is read without the id", held(step{"GET /{C}/b", "", "", "200 ~ 0123456789"}, step{"HEAD /{C}/b", "", "", "200"})},
	}
}

func leaseRefusals() []conversation {
	const at = "/{C}/b?"
	write := func(name, request, body, headers, want string) conversation {
		return conversation{name, held(step{request, body, headers, want})}
	}
	acquire := func(name, headers, want string) conversation {
		return conversation{name, on(lease(at, "acquire", headers, want))}
	}
	return []conversation{
		write("a put without the lease", "PUT /{C}/b", "x", block, "412 LeaseIdMissing"),
		write("a put with another lease", "PUT /{C}/b", "x", block+"|"+other, "412 LeaseIdMismatchWithBlobOperation"),
		write("a delete without the lease", "DELETE /{C}/b", "", "", "412 LeaseIdMissing"),
		write("metadata without the lease", "PUT /{C}/b?comp=metadata", "", "x-ms-meta-a: 1", "412 LeaseIdMissing"),
		write("headers without the lease", "PUT /{C}/b?comp=properties", "", "", "412 LeaseIdMissing"),
		write("a block without the lease", "PUT /{C}/b?comp=block&blockid=AAAA", "x", "", "412 LeaseIdMissing"),
		write("a read with another lease", "GET /{C}/b", "", other, "412 LeaseIdMismatchWithBlobOperation"),
		{"a put with the id of a lease that does not exist", on(step{"PUT /{C}/b", "x", block + "|" + id, "412 LeaseNotPresentWithBlobOperation"})},
		{"a read with the id of a lease that does not exist", on(step{"GET /{C}/b", "", id, "412 LeaseNotPresentWithBlobOperation"})},
		{"a put with a lost lease", held(lease(at, "break", "", "202"), step{"PUT /{C}/b", "x", block + "|" + id, "412 LeaseLost"})},
		acquire("a lease of 14 seconds", "x-ms-lease-duration: 14", "400 InvalidHeaderValue"),
		acquire("a lease of 61 seconds", "x-ms-lease-duration: 61", "400 InvalidHeaderValue"),
		acquire("a lease of no seconds", "x-ms-lease-duration: 0", "400 InvalidHeaderValue"),
		acquire("a lease without a duration", "", "400 MissingRequiredHeader"),
		acquire("a lease with an invalid id", "x-ms-lease-duration: 15|x-ms-proposed-lease-id: me", "400 InvalidHeaderValue"),
		{"an unknown lease action", on(lease(at, "take", "", "400 InvalidHeaderValue"))},
		{"a lease without an action", on(step{"PUT /{C}/b?comp=lease", "", "", "400 MissingRequiredHeader"})},
		{"a lease of a missing blob", []step{lease(at, "acquire", "x-ms-lease-duration: 15", "404 BlobNotFound")}},
		{"a renewal without a lease", on(lease(at, "renew", id, "409 LeaseIdMismatchWithLeaseOperation"))},
		{"a renewal of another lease", held(lease(at, "renew", other, "409 LeaseIdMismatchWithLeaseOperation"))},
		{"a release of another lease", held(lease(at, "release", other, "409 LeaseIdMismatchWithLeaseOperation"))},
		{"a break without a lease", on(lease(at, "break", "", "409 LeaseNotPresentWithLeaseOperation"))},
		{"a change without a lease", on(lease(at, "change", id+"|x-ms-proposed-lease-id: "+theirs, "409 LeaseNotPresentWithLeaseOperation"))},
		{"a break period of more than a minute", held(lease(at, "break", "x-ms-lease-break-period: 61", "400 InvalidHeaderValue"))},
	}
}

// https://learn.microsoft.com/rest/api/storageservices/lease-container
func containerLeaseCases() []conversation {
	const at = "/{C}?restype=container&"
	held := func(rest ...step) []step {
		steps := append([]step{lease(at, "acquire", "x-ms-lease-duration: -1|x-ms-proposed-lease-id: "+mine, "201")}, rest...)
		return append(steps, lease(at, "break", "x-ms-lease-break-period: 0", "202"))
	}
	return []conversation{
		{"blobs in a leased container can be written", held(upload("b", "x"), step{"DELETE /{C}/b", "", "", "202"})},
		{"a leased container is not deleted without the lease", held(step{"DELETE /{C}?restype=container", "", "", "412 LeaseIdMissing"})},
		{"a leased container is not deleted with another lease", held(step{"DELETE /{C}?restype=container", "", other, "412 LeaseIdMismatchWithContainerOperation"})},
		{"the properties of a leased container show the lease", held(step{"GET /{C}?restype=container", "", "", "200 ~ X-Ms-Lease-State: leased ~ X-Ms-Lease-Duration: infinite"})},
		{"a leased container is deleted with the lease", []step{
			lease(at, "acquire", "x-ms-lease-duration: -1|x-ms-proposed-lease-id: "+mine, "201"),
			{"DELETE /{C}?restype=container", "", id, "202"},
		}},
		{"a container without a lease is not deleted with one", []step{{"DELETE /{C}?restype=container", "", id, "412 LeaseNotPresentWithContainerOperation"}}},
	}
}
