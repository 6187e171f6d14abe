package mutation_test

import "github.com/azpatterns/azpatterns/internal/mutation"

// Conditions of package largeentity.
var largeentityMutants = []mutation.Mutant{
	{
		Name: "largeentity: changed blobs deleted", Flags: by("TestRandomSchedules|TestASweep|TestABlob"), File: "patterns/largeentity/sweep.go",
		Old:    "ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: o.etag}",
		New:    "",
		Breaks: "The sweep does nothing to a blob that has changed since it was found.",
	},
	{
		Name: "largeentity: no mark", Flags: by("TestASweepMarksThenDeletes"), File: "patterns/largeentity/sweep.go",
		Old:    "	case o.marked:\n		_, err",
		New:    "	case true:\n		_, err",
		Breaks: "A blob that is found without an entity is marked first, and deleted by a later sweep.",
	},
	{
		Name: "largeentity: unreadable references", Flags: by("TestASweepStopsAtCorruptReferences"), File: "patterns/largeentity/sweep.go",
		Old:    "		if err != nil {\n			return err\n		}\n		for _, ref := range append(",
		New:    "		if false {\n			return err\n		}\n		for _, ref := range append(",
		Breaks: "References that cannot be read might be to any blob.",
	},
	{
		Name: "largeentity: replaced references", Flags: by("TestSweepKeepsTheBlobsWhoseAddressARowContains|TestABlobThatWasWrittenByHand"), File: "patterns/largeentity/sweep.go",
		Old:    "range append(refs.list(), replaced.list()...) {",
		New:    "range append(refs.list(), replaced.list()[:0]...) {",
		Breaks: "Nothing may delete the blobs of replaced references while the row contains them.",
	},
	{
		Name: "largeentity: write in progress", Flags: by("TestAMessageThatArrivesBeforeItsWriteIsRetried"), File: "patterns/largeentity/outbox.go",
		Old:    "	case wait > 0:\n		return wait, nil",
		New:    "	case false:\n		return wait, nil",
		Breaks: "Until the write is over the row may refer to blobs that it is about to drop.",
	},
	{
		Name: "largeentity: referenced blobs", Flags: by("TestOutboxMessagesDeleteUnreferencedBlobs|TestAMessage"), File: "patterns/largeentity/outbox.go",
		Old:    "if !t.isOwn(named) || slices.ContainsFunc(refs, func(r BlobRef) bool { return r.Name == named.Row }) {",
		New:    "if !t.isOwn(named) || false && slices.ContainsFunc(refs, func(r BlobRef) bool { return r.Name == named.Row }) {",
		Breaks: "The worker keeps the blobs to which the entity refers.",
	},
	{
		Name: "largeentity: readers of the old row", Flags: by("TestAReaderHasTheGracePeriodToReadBlobs|TestOutboxMessages"), File: "patterns/largeentity/outbox.go",
		Old:    "unchanged := !changed.IsZero() && props.Date.Sub(changed) >= t.grace+time.Second",
		New:    "unchanged := true",
		Breaks: "A blob is marked if the row has changed within the grace period: a reader may have the row that refers to it.",
	},
	{
		Name: "largeentity: deleted after doubt", Flags: by("TestABlobIsKeptIfTheOutcomeIsUnknown"), File: "patterns/largeentity/write.go",
		Old:    "	if errors.Is(err, patterns.ErrOutcomeUnknown) {\n		return false\n",
		New:    "	if errors.Is(err, patterns.ErrOutcomeUnknown) {\n		return true\n",
		Breaks: "Uploaded blobs are deleted only if the row was not and will not be written.",
	},
	{
		Name: "largeentity: slow writers", Flags: by("TestASlowWriterSucceedsInTimeOrFails"), File: "patterns/largeentity/write.go",
		Old:    "		if late := t.checkTime(p.start); late != nil {",
		New:    "		if late := t.checkTime(p.start); false {",
		Breaks: "A writer that takes longer than half of the grace period fails.",
	},
	{
		Name: "largeentity: unconditional replace", Flags: by("TestInvalidArgumentsAreRefusedWithoutARequest|TestTheZeroTable"), File: "patterns/largeentity/write.go",
		Old:    "	if item.ETag == \"\" || item.ETag == azcore.ETagAny {",
		New:    "	if false {",
		Breaks: "An unconditional write could refer to blobs that have been swept.",
	},
}
