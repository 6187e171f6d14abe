// Package eventual implements the eventually consistent transactions pattern on Azure
// Queue Storage: changes that span partitions, tables, accounts or services, for which
// there are no transactions.
//
// # Problem
//
// "Archive employee 456" changes two tables, which is impossible in one transaction. A
// process that changes the first and dies before the second leaves the data
// inconsistent, and no one notices. With this pattern, the intent is first stored as a
// queue message. A worker then executes all steps, and repeats them until they are done:
//
//	client   1  add the message "archive 456"
//	worker   2  receive the message: it is hidden from other workers for a time, not deleted
//	         3  read the row from Current
//	         4  store it in Archive
//	         5  delete it from Current, if it is still the version read
//	         6  delete the message
//
// After a crash at any step the message becomes visible again and the steps are
// repeated, so each of them has to be idempotent. [Worker] receives messages and calls
// handlers; [Move] implements steps 3 to 5:
//
//	w, err := eventual.NewWorker(queue, &eventual.Options{Poison: poison})
//	eventual.HandleMove(w, "employee.archive", current, archive)
//	eventual.Handle(w, "letter.send", func(ctx context.Context, job eventual.Job[Letter]) error { … })
//	err = w.Run(ctx) // until ctx ends
//
//	err = eventual.Enqueue(ctx, queue, "letter.send", Letter{…}, nil)
//
// # Guarantees
//
// A message is deleted only after its handler returned nil, or after a copy of it was
// added to the poison queue. Messages expire only if [EnqueueOptions.TTL] is set.
//
// A message may be processed more than once, also by two workers concurrently: if a
// worker died or lost its connection after the work and before the delete, if the
// response to a put was lost and the SDK repeated it, or if the clocks of the service's
// servers differ. A request for which no response arrived may still be carried out minutes
// later. A put then adds a duplicate, also to the poison queue, which may contain a job that a
// later attempt has processed; an update or delete is refused if the message was delivered
// again. A worker that was suspended for longer than [Options.Visibility] releases what it has
// received without calling the handler, and moves no message to the poison queue that another
// worker has received. The clock of the worker's machine may be wrong: ages are measured by
// the clock of the service. Messages arrive in no particular order. Handlers have to be
// idempotent; [Job.ID], an ETag or a version in the message help with that.
//
// There is no isolation: between the steps, other processes see that some are done and
// others are not.
//
// # One at a time
//
// Messages spread work over all workers. For work that one process at a time must do there is [Lease]: a leader, or the owner of
// each partition of the work.
//
// # Messages
//
// A message is base64 of JSON, because the service transports it in XML:
//
//	{"azp":1,"id":"…","kind":"letter.send","at":"2026-01-02T03:04:05Z","body":{…}}
//	{"azp":1,…,"claim":{"name":"azp_claim/…","size":70000,"sha256":"…"}}
//	{"azp":1,"mac":"…",…}
//	{"azp":1,…,"poison":{"message":"…","reason":"…","attempts":5,"inserted":"…","at":"…"}}
//
// A member "free" counts the deliveries that do not count as attempts; it is negative in a
// copy that [Worker.Process] adds after earlier attempts. A payload that does
// not fit into 64 KiB is stored in a blob, to which the message refers (a claim check).
// The blob is deleted after the message: see [EnqueueOptions.Container] and
// [Claims.Sweep]. Messages that other programs wrote, as plain text or base64, are
// processed too: see [Raw] and [Options.Decode].
//
// # Trust
//
// A client that may add messages can have any handler called with any payload, but cannot make the
// worker do anything else: a claim names only blobs below azp_claim/, of at most
// [Options.MaxPayload], and a blob is deleted only in the version that was read. Text of a
// message reaches a log, an error or a [PoisonMessage] only in printable form, except payloads.
//
// [Options.SigningKeys] restrict the queue to those who have a key. A signature is the HMAC-SHA256
// of the message and the name of the queue, in a member "mac". It proves that the message was
// made for this queue, that it was not changed, and which payload in a blob belongs to it. It does
// not prove when the message was made, or that it was not delivered before. The worker signs the
// messages that it changes or copies to its other queues. SECURITY.md lists who may write where,
// and what that permits.
//
// # Cost
//
// Requests, of which a queue serves about 2,000 per second:
//
//	enqueue a job           1, with a payload in a blob 2
//	poll                    1 for up to 32 messages, 1 for none
//	process a job           1, with a payload in a blob 3; with Process 0, and 1
//	extend its lease        1 for each third of the visibility timeout
//	a failed attempt        1
//	move to poison          2
//	replay, discard         2, 1 (3 with a payload in a blob), and one for each 32 messages that Take receives
//	late check of a Store   1, and 1 more to move it to the queue for late checks
//	Move                    3; 2 if the row was moved before
//
// # Failures
//
// The result of the handler decides: nil deletes the message, an error leads to another
// attempt after a growing delay, [Cancel] moves the message to the poison queue, and
// [Snooze] postpones it. A panic counts as an error. The worker also moves a message to
// the poison queue, with the reason, after [Options.Tries] attempts, if no handler
// is registered for its kind, and if it cannot be decoded. [PoisonQueue] lists, replays
// and discards poison messages. [Options.Poison] describes what happens without a poison
// queue.
//
// If the response to a lease renewal is lost, the new pop receipt is lost too. The worker
// then treats the lease as lost: the handler's context ends, and the job is processed
// again by the next worker that receives the message.
//
// # The outbox of a Store
//
// [Outbox] stores the outbox messages of a [patterns.Store] with rows outside the
// partition of the entity. [HandleOutbox] and [HandleSweep] let a worker finish the
// operations of processes that died.
//
// # Scalers
//
// A scaler such as KEDA starts workers when the queue contains messages and stops them when
// it is empty. By default KEDA's azure-queue trigger counts visible and hidden messages
// (queueLengthStrategy "all", from ApproximateMessagesCount). That is the count to use:
// messages that handlers are processing are hidden, and their worker should not be stopped.
//
// If a process dies during an operation of a Store, a worker finishes the operation, and
// checks it once more after Expiry, an hour by default. With [Options.LateChecks] the
// message of the check is on a queue of its own, so the work queue is empty within Grace of
// the Store plus one poll. The scaler counts the work queue only, never the queue for late
// checks:
//
//	w, err := eventual.NewWorker(work, &eventual.Options{Poison: poison, LateChecks: late}) // scaled
//	eventual.HandleOutbox(w, "staff", store)
//
//	w, err := eventual.NewWorker(late, &eventual.Options{Poison: poison}) // once an hour, for a minute
//	eventual.HandleOutbox(w, "staff", store)
//	err = w.Run(ctx)
//
// The worker of the queue for late checks may run as rarely as you like, for example from
// a Kubernetes CronJob or a timer of Azure Functions: pass a context with a timeout to Run.
// Late checks never expire. Until a check is done, the record of its operation, a small row,
// remains in the partition of the entity, and derived rows remain wrong if a second process
// died after it had written them late. Once a day is enough. Each operation that a worker
// had to finish costs one request more than without the queue; each run of the worker costs
// at least one poll.
//
// Without LateChecks the message stays hidden on the work queue for Expiry. A scaler that
// counts hidden messages then runs a worker for an hour after each crash. One that counts
// visible messages only (queueLengthStrategy "visibleonly") stops it earlier, but does not
// see handlers that still run: a worker that is stopped makes their messages visible again
// after [Options.Grace]. With 32 or more visible messages KEDA counts all of them in both
// cases.
//
// Jobs that [Snooze] or [Options.Backoff] postpones, and those with [EnqueueOptions.Delay],
// stay on the work queue and are counted. Outbox messages of operations in progress are
// counted until the operation deletes them, usually after milliseconds.
//
// # Hosts
//
// Azure Functions, Dapr and jobs that a scaler starts receive messages themselves.
// [Worker.Process] handles one such delivery with the handlers of a Worker, and returns an
// error if the host has to deliver the message again.
//
// # When not to use it
//
//   - All rows are in one partition: use a transaction, [patterns.Table.Batch].
//   - Other processes must not see a step without the next one.
//   - Messages have to arrive in order, or exactly once.
//
// The pattern:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#eventually-consistent-transactions-pattern
package eventual
