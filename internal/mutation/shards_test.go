package mutation_test

import "github.com/azpatterns/azpatterns/internal/mutation"

// Conditions of package shards.
var shardsMutants = []mutation.Mutant{
	{
		Name: "shards: no wait", Flags: by("TestAWriteThatIsOvertakenByAMoveHasAnUnknownOutcome"), File: "patterns/shards/move.go",
		Old:    "calls.Sleep(ctx, next.Wait*9/8)",
		New:    "calls.Sleep(ctx, next.Wait*0)",
		Breaks: "A run waits until no process uses an earlier version.",
	},
	{
		Name: "shards: clocks at one speed", Flags: by("TestAWriteThatIsOvertakenByAMoveHasAnUnknownOutcome"), File: "patterns/shards/move.go",
		Old:    "next.Wait*9/8",
		New:    "next.Wait*8/9",
		Breaks: "Clocks need not run at the same speed.",
	},
	{
		Name: "shards: one read of the keys", Flags: append(by("TestTwoLateTransactionsAreNeverMovedInHalf"), "-short=false"), File: "patterns/shards/move.go",
		Old:    "	for range 2 {\n		stored",
		New:    "	for range 1 {\n		stored",
		Breaks: "Version 3 is published only if every row has the ETag that was copied in both of two reads.",
	},
	{
		Name: "shards: late writes lost", Flags: by("TestALateWriteThatWasSeenAfterTheCopyIsNotLost|TestTwoLate"), File: "patterns/shards/move.go",
		Old:    "		if err != nil || !maps.Equal(m.copied, stored) {",
		New:    "		if err != nil || len(stored) < 0 {",
		Breaks: "If a late write has arrived since, the step is copied again.",
	},
	{
		Name: "shards: step within the lease", Flags: by("TestAClosedStepCannotBeRead"), File: "patterns/shards/directory.go",
		Old:    "		if !step && known != nil",
		New:    "		if known != nil",
		Breaks: "A result of a read in a step counts only if the directory, read after it, is not closed.",
	},
	{
		Name: "shards: closed step", Flags: by("TestAClosedStepCannotBeRead"), File: "patterns/shards/lease.go",
		Old:    " && !(now.Closed > 0 && frozen(now)) {",
		New:    " {",
		Breaks: "If the directory is closed, partitions of the step cannot be read.",
	},
	{
		Name: "shards: unacknowledged writes", Flags: by("TestAWriteThatIsOvertakenByAMoveHasAnUnknownOutcome"), File: "patterns/shards/lease.go",
		Old:    "		if still, open := now.writer(partition); open && still == name {",
		New:    "		if still, open := now.writer(partition); open || still == name || true {",
		Breaks: "The result of a write counts only if the partition could be written there during the whole call.",
	},
	{
		Name: "shards: two moves", Flags: by("TestAWriteThatIsOvertakenByAMoveHasAnUnknownOutcome"), File: "patterns/shards/lease.go",
		Old:    "	return moves <= 1\n",
		New:    "	return moves <= 1 || true\n",
		Breaks: "An owner that is the same has not changed meanwhile if at most one move has changed the directory.",
	},
	{
		Name: "shards: not reopened", Flags: by("TestAReaderReopensAStepThatStaysClosed"), File: "patterns/shards/lease.go",
		Old:    "		if calls.Elapsed(began) > patience(d) {",
		New:    "		if false && calls.Elapsed(began) > patience(d) {",
		Breaks: "A reader that has waited so long opens a step that is closed.",
	},
	{
		Name: "shards: open is not frozen", Flags: by("TestAClosedStepCannotBeRead"), File: "patterns/shards/directory.go",
		Old:    "	return !open\n",
		New:    "	return false && !open\n",
		Breaks: "The partitions of the step cannot be written.",
	},
}
