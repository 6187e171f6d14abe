// Package eventual carries out what no transaction can: changes over partitions,
// tables, accounts and services. It is the eventually consistent transactions
// pattern, on Azure Queue Storage.
//
// # Problem
//
// "Archive employee 456" changes two tables, which no entity group transaction can.
// A process that does one and dies before the other leaves things half done, and
// nobody knows. So the intent is put on a queue first, and a worker does all the
// steps, again and again until they are done:
//
//	client   1  put the message "archive 456"
//	worker   2  get the message: hidden from others for a time, not removed
//	         3  read the row from Current
//	         4  store it in Archive
//	         5  delete it from Current, if it is still the version read
//	         6  delete the message
//
// After a crash at any step the message is shown again, and the steps are repeated;
// each of them bears that. That is what [Worker] and [Move] are:
//
//	w, err := eventual.NewWorker(queue, &eventual.Options{Poison: poison})
//	eventual.HandleMove(w, "employee.archive", current, archive)
//	eventual.Handle(w, "letter.send", func(ctx context.Context, job eventual.Job[Letter]) error { … })
//	err = w.Run(ctx) // until ctx ends
//
//	err = eventual.Enqueue(ctx, queue, "letter.send", Letter{…}, nil)
//
// # What is promised
//
// A message is deleted only after its handler has returned nil, or after a copy of
// it stands in the poison queue. Nothing else loses one: messages never expire
// unless [EnqueueOptions.TTL] says so.
//
// A message may be handled more than once, also by two workers at once: when a
// worker died or was cut off after the work and before the delete; when the reply to
// a put was lost and the SDK put it twice; when clocks of the service's servers
// differ. Messages come in no order. A handler has to make its effects bear that, by
// [Job.ID], an ETag, or a version in the message.
//
// Nobody is isolated: in between others see that some steps are done.
//
// # Messages
//
// A message is base64 of JSON, so that nothing in it can hurt the service's XML:
//
//	{"azp":1,"id":"…","kind":"letter.send","at":"2026-01-02T03:04:05Z","body":{…}}
//	{"azp":1,…,"claim":{"name":"azp_claim/…","size":70000,"sha256":"…"}}
//	{"azp":1,…,"poison":{"message":"…","reason":"…","attempts":5,"inserted":"…","at":"…"}}
//
// "free" in it counts deliveries that were no attempts. A payload that would not fit
// into 64 KiB stands in a blob, which is deleted after the message: see
// [EnqueueOptions.Container] and [SweepClaims]. Messages that other code wrote, as
// plain text or as base64, are handled too: see [Raw] and [Options.Decode].
//
// # Cost
//
// Requests; a queue takes about 2,000 a second:
//
//	put a job              1, with a payload in a blob 2
//	poll                   1 for up to 32 messages, 1 for none
//	handle a job           1, with a payload in a blob 3
//	handle it for long     and 1 for each third of the visibility timeout
//	a failed attempt       1
//	make it poison         2
//	replay, discard        2, 1, and the share of Take's 1 for 32
//	Move                   3, moved before 2
//
// # Failures
//
// What a handler returns decides: nil deletes the message; an error leaves it for
// another attempt, later each time; [Cancel] ends it; [Snooze] only waits. A panic is
// an error. After [Options.MaxAttempts] attempts, and where the kind is unknown or
// the message cannot be read, it goes to the poison queue with the reason. [Poison]
// lists, replays and discards what is there. That queue has to be given:
// [Options.Poison] says what becomes of such messages without it.
//
// When the reply to a renewal is lost, the new receipt is lost with it. The worker
// then counts the message as taken over: the handler's context ends, and the job is
// done again by whoever gets it next.
//
// # The outbox of a Store
//
// [Outbox] is the queue of a [patterns.Store] whose rows leave the partition;
// [HandleOutbox] and [HandleSweep] let a worker finish what a dead process began.
//
// # When not to use it
//
//   - Everything is in one partition: use a transaction, [patterns.Table.Batch].
//   - Others must never see a step without the next.
//   - Messages must come in order, or once only.
//
// The pattern:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#eventually-consistent-transactions-pattern
package eventual
