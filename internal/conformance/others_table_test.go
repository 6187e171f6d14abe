package conformance

// other is a suite of tests that this project has not written, or the programs of this project with packages of another language.
type other struct {
	name    string // a folder, of this package or of the checkouts
	what    string // as README.md describes it
	steps   map[string]counted
	differs []otherDifference

	// For public programs only.
	repository, commit string
	folder             string // in which the tests are, or to which suite is added
	suite              string // a file of testdata/programs
}

type counted struct{ passed, all int }

// otherDifference is a list of steps that fail for one reason, with all that begin with such a name and a slash.
type otherDifference struct {
	on     string // storagetest, azurite, or "" for both
	steps  []string
	reason string
	random bool // the steps fail in some runs only, and are not counted
}

var others = []other{
	{
		name: "py", what: "Debian's `python3-azure-storage`: azure-data-tables 12.4.2, azure-storage-queue 12.6.0b1, azure-storage-blob 12.15.0b1",
		steps: map[string]counted{"storagetest": {29, 30}, "azurite": {29, 30}},
		differs: []otherDifference{{steps: []string{"blobs: a batch of deletes"},
			reason: "the package leaves the account out of the addresses of the parts, which is right only if the account is part of the host"}},
	},
	{
		name: "js/old", what: "the older package for JavaScript, `azure-storage` 2.10.7",
		steps: map[string]counted{"storagetest": {37, 37}, "azurite": {37, 37}},
	},
	{
		name: "gokv", what: "the suite of its table store",
		repository: "philippgille/gokv", commit: "c96b6b6", folder: "tablestorage",
		steps: map[string]counted{"storagetest": {43, 43}, "azurite": {2, 13}},
		differs: []otherDifference{{on: "azurite", steps: []string{"TestClient", "TestTypes", "TestClientConcurrent", "TestErrors", "TestNil", "TestClose"},
			reason: "it asks for its table and creates it after 404 ResourceNotFound, as recordings of the service have it; Azurite replies TableNotFound"}},
	},
	{
		name: "components-contrib", what: "dapr's conformance suite, with its state store in tables",
		repository: "dapr/components-contrib", commit: "c23900d27", suite: "dapr_test.go",
		steps: map[string]counted{"storagetest": {23, 23}, "azurite": {23, 23}},
	},
	{
		name: "bento", what: "its suite of streams for blobs and queues, and streams into a table",
		repository: "warpstreamlabs/bento", commit: "7825c952a", suite: "bento_test.go",
		steps: map[string]counted{"storagetest": {5, 6}, "azurite": {5, 6}},
		differs: []otherDifference{{steps: []string{"TestARefusedTransactionEndsTheStream"},
			reason: "its output sends a refused transaction again, without an end: here two messages with one key"}},
	},
	{
		name: "campfire", what: "the tests of its stores in tables",
		repository: "campfire-net/campfire", commit: "357c02a", folder: "pkg/store/aztable",
		steps: map[string]counted{"storagetest": {70, 73}, "azurite": {73, 73}},
		differs: []otherDifference{
			{on: "storagetest", steps: []string{"TestDispatchStore_ListStaleDispatches", "TestDispatchStore_CleanupOldDispatches"},
				reason: "a filter compares with a 64-bit number without its documented suffix `L`: 400 InvalidInput; Azurite accepts it"},
			{on: "storagetest", steps: []string{"TestDispatchStore_MarkBilled_NoRecord"},
				reason: "`If-Match: any-etag` is 400 InvalidInput, as a comment in dapr's tests has it; Azurite does not check the form"},
			{steps: []string{"TestDispatchStore_MarkBilled_RetryAfterConflict"}, random: true,
				reason: "it takes every error whose text contains 404 for a missing row, also if that is in a key; of 300 runs 9 failed on storagetest, and 4 on Azurite"},
		},
	},
}
