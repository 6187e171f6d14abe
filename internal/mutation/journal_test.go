package mutation_test

import "github.com/azpatterns/azpatterns/internal/mutation"

// Rules of the journal.
var journalMutants = []mutation.Mutant{
	{
		Name: "journal: rows overwritten", Flags: by("TestEachChangeIsRecorded"), File: "internal/journal/row.go",
		Old:    "return put(wire.Insert, at, p)",
		New:    "return put(wire.InsertOrReplace, at, p)",
		Breaks: "The row of the change is inserted.",
	},
	{
		Name: "journal: no marker", Flags: by("TestAChangeIsRecordedInTheEpochThatIsOpen"), File: "internal/journal/writer.go",
		Old:    "	mark.ETag = \"*\"\n",
		New:    "	mark.ETag, mark.Kind = \"\", wire.InsertOrMerge\n",
		Breaks: "The marker of the epoch is merged into on the condition that it exists.",
	},
	{
		Name: "journal: marker stays", Flags: by("TestAChangeIsRecordedInTheEpochThatIsOpen"), File: "internal/journal/journal.go",
		Old:    "	batch.Add(j.rows, closed)\n",
		New:    "	_ = closed\n",
		Breaks: "To close an epoch the marker is deleted.",
	},
	{
		Name: "journal: open epoch swept", Flags: by("TestAChangeIsRecordedInTheEpochThatIsOpen"), File: "internal/journal/sweep.go",
		Old:    "		case r.epoch > epoch:",
		New:    "		case r.epoch > 0:",
		Breaks: "Only rows of closed epochs are swept.",
	},
	{
		Name: "journal: outcome of another", Flags: by("TestTheRowOfAnotherChangeShowsNothing"), File: "internal/journal/writer.go",
		Old:    "if err != nil || content.Text(view.PropOp) == t.open[i].id {",
		New:    "if err != nil || content.Text(view.PropOp) != \"\" {",
		Breaks: "The row of a change shows the outcome of its own transaction only.",
	},
	{
		Name: "journal: begins again", Flags: by("TestEachChangeIsRecorded"), File: "internal/journal/writer.go",
		Old:    "				r.last = newest.Version\n",
		New:    "				r.last = Version{}\n",
		Breaks: "If the row of that version exists, the newest row of the entity has the last version.",
	},
	{
		Name: "journal: version not stored", Flags: by("TestEachChangeIsRecorded"), File: "internal/journal/writer.go",
		Old:    "	return unknown.WithTexts(edm.Text{Name: Prop, Value: r.row.Version.String()})\n",
		New:    "	return *unknown\n",
		Breaks: "The entity stores its version.",

		Survives: "the newest row of the entity, which no sweep deletes, has the version too; to read it takes two requests more",
	},
	{
		Name: "journal: state not kept", Flags: by("TestAsOfReturnsWhatWasStoredAtATime"), File: "internal/journal/sweep.go",
		Old:    "	newest := entity != sw.last\n",
		New:    "	newest := entity == \"\"\n",
		Breaks: "A sweep keeps the newest old row of an entity that existed then.",
	},
	{
		Name: "journal: deletion goes first", Flags: by("TestASweepDoesNotRevealAnOlderState"), File: "internal/journal/sweep.go",
		Old:    "	if newest && !(deleted && alone) {",
		New:    "	if newest && !(deleted && (alone || true)) {",
		Breaks: "The row of a deletion is kept as long as there are older ones.",
	},
	{
		Name: "journal: an empty page is the end", Flags: by("TestAsOfReadsOn"), File: "internal/journal/read.go",
		Old:    "		if cursor = next; cursor == \"\" {",
		New:    "		if cursor = \"\"; next != \"?\" {",
		Breaks: "A change is found on any page.",
	},
}
