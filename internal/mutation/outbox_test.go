package mutation_test

import "github.com/azpatterns/azpatterns/internal/mutation"

// Conditions of package outbox that need transactions which begin together, or rows of other programs. The other ones are in package search.
var outboxMutants = []mutation.Mutant{
	{
		Name: "outbox: message of a group ends with its first", Flags: by("TestAMessageOfTwoTransactionsIsDeletedByTheLast"), File: "internal/outbox/finisher.go",
		Old:    "			sent.open.Store(int32(len(all)))",
		New:    "			sent.open.Store(int32(min(1, len(all))))",
		Breaks: "F7. The message is deleted when all its operations are finished.",
	},
	{
		Name: "outbox: message of a group names its first", Flags: by("TestAMessageOfTwoTransactionsLeadsAWorkerToBoth"), File: "internal/outbox/finisher.go",
		Old:    "	for i := range all[1:] {",
		New:    "	for i := range all[len(all):] {",
		Breaks: "F7. It names every operation before it is put.",
	},
	{
		Name: "outbox: one row for all", Flags: by("TestWhatAFinisherHolds"), File: "internal/outbox/finisher.go",
		Old:    "		of[refused.Index].failed = true\n",
		New:    "		for _, h := range g.held {\n			h.failed = h.failed || of[refused.Index] != nil\n		}\n",
		Breaks: "F6. What a worker has acquired is left to it, and nothing else.",
	},
	{
		Name: "outbox: worker waits for all", Flags: by("TestAWorkerDoesNotWaitForATransactionInProgress"), File: "internal/outbox/worker.go",
		Old:    "	if len(all) > 0 {\n		retryAfter",
		New:    "	if len(all) == len(ops) {\n		retryAfter",
		Breaks: "F8. A worker processes the operations that have records although others are young.",
	},
	{
		Name: "outbox: messages of nothing are deleted early", Flags: by("TestAnOperationThatIsAppliedAfterAWorkerLookedIsFinished"), File: "internal/outbox/worker.go",
		Old:    "				left[i] -= f.Age\n",
		New:    "				left[i] = 0\n",
		Breaks: "An operation that holds no row needs no fence while its message is kept.",
	},
	{
		Name: "outbox: an operation without a fence keeps nothing", Flags: by("TestARowThatAnOperationReservesWithoutAFenceIsKept"), File: "internal/outbox/worker.go",
		Old:    "			f.ID = \"\" // without a fence it may reserve a row now, and be applied later\n",
		New:    "",
		Breaks: "A row that the operation reserves meanwhile is left to it: there is no fence, so it may be applied after all.",
	},
	{
		Name: "outbox: copies that stay are not adopted", Flags: by("TestCopiesWithoutMarkersAreMarkedBeforeTheirViewIsListed"), File: "internal/view/diff.go",
		Old:    "!d.View.Shape.Plain && !d.Unique()\n}",
		New:    "!d.View.Shape.Plain && !d.Unique() && (d.New == nil || !d.Old.sameContent(d.New))\n}",
		Breaks: "Rows without a marker are adopted before the transaction, also if they stay as they are.",
	},
}
