package mutation_test

import "github.com/azpatterns/azpatterns/internal/mutation"

// Conditions of package txn.
var txnMutants = []mutation.Mutant{
	{
		Name: "txn: no resolve", Flags: by("TestALostMergeIsRecognizedIfTheRowHasOtherProperties"), File: "internal/txn/send.go",
		Old:    "	if !errors.As(err, &e) || !e.Unsure {",
		New:    "	if !errors.As(err, &e) || !e.Unsure || e.Unsure {",
		Breaks: "Send resolves the outcome of a write if the response leaves it open.",
	},
	{
		Name: "txn: unanswered attempts", Flags: by("TestResolveReturnsWhatTheStoredRowProves"), File: "internal/txn/resolve.go",
		Old:    "f.verdict == unchanged && !e.Unanswered:",
		New:    "f.verdict == unchanged:",
		Breaks: "If an attempt had no response it may still arrive, and find the version that it needs.",
	},
	{
		Name: "txn: one row proves all", Flags: by("TestResolveCombinesTheRowsOfATransaction"), File: "internal/txn/resolve.go",
		Old:    "case len(changes) == 1 && (f.verdict == equal || f.verdict == missing && changes[i].IfExists):",
		New:    "case f.verdict == equal || f.verdict == missing && changes[i].IfExists:",
		Breaks: "In a transaction the other rows would have to be as they were wanted at the same time.",
	},
	{
		Name: "txn: not excluded", Flags: by("TestResolveReturnsWhatTheStoredRowProves"), File: "internal/txn/resolve.go",
		Old:    "case f.verdict == excluded, f.verdict == unchanged",
		New:    "case f.verdict == unchanged",
		Breaks: "excluded: the row proves that the conditional write was not applied and never will be.",
	},
	{
		Name: "txn: content proves", Flags: by("TestResolveReturnsWhatTheStoredRowProves"), File: "internal/txn/resolve.go",
		Old:    "if c.Kind == wire.Delete || !c.Repeatable && (conditional || c.Kind == wire.Insert) {",
		New:    "if c.Kind == wire.Delete {",
		Breaks: "Content proves nothing about a write that has a condition: another client may have stored the same.",
	},
	{
		Name: "txn: stamp is the version", Flags: by("TestResolveReturnsWhatTheStoredRowProves"), File: "internal/txn/resolve.go",
		Old:    "		if same, err := c.sameContent(row); err == nil && same {",
		New:    "		if same, err := c.sameContent(row); err == nil || same {",
		Breaks: "The stamp does not prove that this is the version written.",
	},
	{
		Name: "txn: no version stamp", Flags: by("TestAVersionWithoutStampsIsIdentifiedByItsETag"), File: "internal/txn/stamp.go",
		Old:    "	case stamps == \"\":\n		return versionStamp(etag)",
		New:    "	case stamps == \"\":\n		return \"\"",
		Breaks: "A write to a version without stamps puts the stamp of that version below its own.",
	},
	{
		Name: "txn: identity of an insert", Flags: by("TestResolve|TestARowThatWasMadeAgain|TestARowThatWasReplaced|TestNextStamps"), File: "internal/txn/stamp.go",
		Old:    "	case older == \"\" || older == insertedStamp:",
		New:    "	case false && (older == \"\" || older == insertedStamp):",
		Breaks: "The identity of an insert does not identify a version: an attempt of it may arrive late.",
	},
	{
		Name: "txn: few stamps", Flags: by("TestNextStampsKeepsTheNewestStamps"), File: "internal/txn/stamp.go",
		Old:    "	maxStamps   = 8",
		New:    "	maxStamps   = 2",
		Breaks: "The stamps of a row are the identities of its last eight writes.",
	},
	{
		Name: "txn: add after unknown", Flags: by("TestABatchOfUnknownOutcomeAcceptsNoMoreOperations"), File: "internal/txn/batch.go",
		Old:    "	case b.unknown:\n",
		New:    "	case false:\n",
		Breaks: "The rows of the first attempt would be taken as proof for the new operation too.",
	},
	{
		Name: "txn: late commit", Flags: by("TestARefusalOfASecondCommitDoesNotDecideTheFirst"), File: "internal/txn/batch.go",
		Old:    "		if b.unknown { // an attempt",
		New:    "		if false { // an attempt",
		Breaks: "An attempt of an earlier Commit may still arrive.",
	},
	{
		Name: "txn: missing proves a delete", Flags: by("TestResolve"), File: "internal/txn/resolve.go",
		Old:    "f.verdict == missing && changes[i].IfExists",
		New:    "(f.verdict == missing || f.verdict == missing && changes[i].IfExists)",
		Breaks: "missing: deleted by this write, or by a later one of another client.",
	},
	{
		Name: "txn: update after unknown", Flags: by("TestARowThatWasMadeAgainDoesNotRuleOutAnUpdate"), File: "internal/txn/send.go",
		Old:    "!errors.Is(err, azerr.ErrConflict) || errors.Is(err, azerr.ErrOutcomeUnknown) ||",
		New:    "!errors.Is(err, azerr.ErrConflict) && !errors.Is(err, azerr.ErrOutcomeUnknown) ||",
		Breaks: "Update starts over after a conflict only.",
	},
	{
		Name: "txn: row twice", Flags: by("TestBatchRefusesASecondOperationOnARow"), File: "internal/txn/batch.go",
		Old:    "	case b.has(c.RowKey):\n",
		New:    "	case false && b.has(c.RowKey):\n",
		Breaks: "A transaction has one operation for each row.",
	},
}
