package mutation_test

import "github.com/azpatterns/azpatterns/internal/mutation"

// Conditions of package eventual.
var eventualMutants = []mutation.Mutant{
	{
		Name: "eventual: payload first", Flags: by("TestJobSurvivesEveryCrashOfItsWorker"), File: "patterns/eventual/delivery.go",
		Old:    "	err := d.delete()\n	switch {\n	case err == nil:\n		d.deletePayload()\n",
		New:    "	d.deletePayload()\n	err := d.delete()\n	switch {\n	case err == nil:\n",
		Breaks: "The message is deleted before its payload: the opposite order could leave a message without its payload.",
	},
	{
		Name: "eventual: overdue messages start", Flags: by("TestMessageOfAWorkerThatWasSuspendedAfterItsPollIsNotProcessedTwice"), File: "patterns/eventual/delivery.go",
		Old:    "	case m.overdue(): // the process",
		New:    "	case false: // the process",
		Breaks: "A worker that was suspended releases what it has received without calling the handler.",
	},
	{
		Name: "eventual: overdue lease renewed", Flags: by("TestExpiredLeaseEndsTheHandlersContext"), File: "patterns/eventual/message_lease.go",
		Old:      "	if l.m.overdue() { // the process",
		New:      "	if false { // the process",
		Breaks:   "When the lease has expired, another worker may have received the message.",
		Survives: "the request has the end of the lease as its deadline, so it ends immediately",
	},
	{
		Name: "eventual: late renewal", Flags: by("TestARenewalThatIsNotAnsweredEndsWithTheLease"), File: "patterns/eventual/message_lease.go",
		Old:    "context.WithDeadlineCause(l.ctx, until, ErrLeaseLost)",
		New:    "context.WithDeadlineCause(l.ctx, until.Add(time.Hour), ErrLeaseLost)",
		Breaks: "The renewal must end when the lease does.",
	},
	{
		Name: "eventual: poison without hold", Flags: by("TestMessageThatAnotherWorkerHasProcessedIsNotMovedToPoison"), File: "patterns/eventual/poison.go",
		Old:    "	if err := d.hold(); err != nil {",
		New:    "	if err := d.hold(); false && err != nil {",
		Breaks: "A message that another worker has received is not moved to the poison queue.",
	},
	{
		Name: "eventual: lost poison", Flags: by("TestMessageStaysIfItsCopyForThePoisonQueueIsRefused"), File: "patterns/eventual/poison.go",
		Old:    "	err := d.putPoison(poisonTexts(d.w.poison, d.m, &d.env, d.attempt, reason))\n	if err != nil {",
		New:    "	err := d.putPoison(poisonTexts(d.w.poison, d.m, &d.env, d.attempt, reason))\n	if false && err != nil {",
		Breaks: "A message is deleted only after a copy of it was added to the poison queue.",
	},
	{
		Name: "eventual: any version moves", Flags: by("TestMoveByETagMovesOnlyThatVersion"), File: "patterns/eventual/move.go",
		Old:    "m.from.delete(ctx, src.key, src.etag)",
		New:    "m.from.delete(ctx, src.key, \"*\")",
		Breaks: "Move deletes the row from the source if it is still the version read.",
	},
	{
		Name: "eventual: older row replaces", Flags: by("TestADelayedMoveNeverReplacesANewerRow"), File: "patterns/eventual/move.go",
		Old:    "	if now.etag != src.etag {",
		New:    "	if false && now.etag != src.etag {",
		Breaks: "If this call was delayed since it read the source, the row in the target may be newer.",
	},
	{
		Name: "eventual: no adoption", Flags: by("TestDelayedMoveDoesNotUndoTheCopyOfAnother"), File: "patterns/eventual/move.go",
		Old:    "		return m.adopt(ctx, old)",
		New:    "		return nil",
		Breaks: "A call that finds the copy of another writes it again before it deletes the source, so that the other cannot undo it.",
	},
	{
		Name: "eventual: no undo", Flags: by("TestMoveByETagMovesOnlyThatVersion"), File: "patterns/eventual/move.go",
		Old:    "	if m.copyETag != \"\" {\n		if err := m.undo",
		New:    "	if false {\n		if err := m.undo",
		Breaks: "A move whose source is not the row described leaves the target unchanged.",
	},
	{
		Name: "eventual: undo after doubt", Flags: by("TestMoveKeepsTheCopyIfTheResponseToItsDeleteIsLost"), File: "patterns/eventual/move.go",
		Old:    "		m.copyETag, m.replaced = \"\", nil\n	}\n	return err",
		New:    "		_ = src\n	}\n	return err",
		Breaks: "If the delete may have been carried out, the copy may be all that is left, so it must not be undone.",
	},
	{
		Name: "eventual: any claim", Flags: by("TestMessageCannotReadOrDeleteABlobThatIsNoPayload"), File: "patterns/eventual/envelope.go",
		Old:    "!e.Claim.valid() || strings",
		New:    "strings",
		Breaks: "A claim leads to no other blob than a payload.",
	},
	{
		Name: "eventual: later versions", Flags: by("TestAMessageThatCannotBeReadIsPoisonOrATypedError"), File: "patterns/eventual/envelope.go",
		Old:    "	if v.Version > envelopeVersion {",
		New:    "	if false {",
		Breaks: "Readers refuse later versions.",
	},
	{
		Name: "eventual: any size", Flags: by("TestMessageCannotMakeAWorkerReadMoreThanMaxPayload"), File: "patterns/eventual/claim.go",
		Old:    "	} else if least <= *n && *n <= most {",
		New:    "	} else if true {",
		Breaks: "If the blob has another size, nothing of it is read.",
	},
	{
		Name: "eventual: damaged payloads", Flags: by("TestMessageWithDamagedOrMissingPayloadIsMovedToPoisonImmediately"), File: "patterns/eventual/claim.go",
		Old:    "hex.EncodeToString(sum[:]) != cl.SHA256 {",
		New:    "false && hex.EncodeToString(sum[:]) != cl.SHA256 {",
		Breaks: "A payload is verified by its checksum.",
	},
	{
		Name: "eventual: snoozes are attempts", Flags: by("TestMessagesThatAreHeldAreReleasedWhenTheWorkerStops"), File: "patterns/eventual/delivery.go",
		Old:    "		e.Free++\n",
		New:    "",
		Breaks: "A delivery that snoozed does not count as an attempt.",
	},
	{
		Name: "eventual: never exhausted", Flags: by("TestWithoutPoisonQueueAttemptsContinue"), File: "patterns/eventual/delivery.go",
		Old:    "	case d.exhausted():\n",
		New:    "	case false:\n",
		Breaks: "A message has Tries attempts, also if its worker dies in each.",
	},
	{
		Name: "eventual: payload of another", Flags: by("TestPayloadOfAMessageThatIsNotFoundStays"), File: "patterns/eventual/delivery.go",
		Old:    "	case hasCode(err, \"MessageNotFound\"):\n",
		New:    "	case hasCode(err, \"MessageNotFound\"):\n		d.deletePayload()\n",
		Breaks: "The payload is kept if another worker may have leased the message.",
	},
	{
		Name: "eventual: any signature", Flags: by("TestWorkerWithKeysProcessesOnlyMessagesThatWereSignedForItsQueue"), File: "patterns/eventual/signature.go",
		Old:    "			if hmac.Equal(mac, q.mac(key, unsigned)) {",
		New:    "			if len(mac) > 0 || hmac.Equal(mac, q.mac(key, unsigned)) {",
		Breaks: "A message is accepted only if one of the keys has signed it for this queue.",
	},
}
