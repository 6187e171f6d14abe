// Package otel reports what programs on azpatterns do to OpenTelemetry. It is a module of
// its own, so that the library does not depend on OpenTelemetry.
//
//	telemetry, err := otel.New(nil)
//	var opts aztables.ClientOptions
//	patterns.Accelerate(&opts.ClientOptions)
//	telemetry.Attach(&opts.ClientOptions) // requests
//
//	provider := telemetry.Provider() // operations, and attempts of a Worker
//	table, err := patterns.NewTable(client, &patterns.TableOptions[Employee]{Tracing: provider})
//	worker, err := eventual.NewWorker(queue, &eventual.Options{Tracing: provider})
//	err = eventual.Enqueue(ctx, queue, kind, job, &eventual.EnqueueOptions{Tracing: provider})
//
//	gauges, err := telemetry.ObserveQueue(queue) // backlog
//	gauges, err := telemetry.ObserveHeat(meter)
//
// # Spans
//
// The names and attributes are those of the semantic conventions for databases and
// messaging. No attribute contains a key, a value or the address of a row; the spans of
// requests to blobs therefore have no url.full. Errors are described by their code and by a
// text without keys and values.
//
//	span                 kind      of
//	table.update         internal  an operation of a Table: insert, get, query, scan, bulk, batch, …
//	store.update         internal  an operation of a Store
//	enqueue work         producer  eventual.Enqueue to the queue "work"
//	process work         consumer  an attempt of a Worker on a message of the queue "work"
//	GetEntity Employees  client    a try of a request to a table
//	BATCH Employees      client    a try of an entity group transaction
//	send work            client    a try of a request that adds a message
//	receive work         client    a request for messages; also peek, delete and update
//	GET                  client    a try of a request to a blob, by the conventions for HTTP
//
// Attach observes each try of a request as the SDK sends it. The requests of an operation are
// children of its span. The span of a query or a scan ends with the loop that reads it, also if
// the loop is left or panics. An attempt that ended with eventual.Snooze is no error, and neither is
// a Get of a row that does not exist: its span has no row.
//
// In addition to those that are also attributes of metrics, spans have:
//
//	attribute                      of
//	db.response.returned_rows      operations that read: the rows that the caller received
//	azpatterns.query.class         queries, also as an attribute of the metric of operations: the class of package query
//	azpatterns.query.reads         queries: the number of reads into which the filter was divided
//	db.operation.batch.size        entity group transactions
//	http.request.resend_count      requests that are tried again: the number of the try, from 1
//	az.service_request_id          requests: by this id the service knows them
//	az.client_request_id           requests whose client sends one, see below
//	messaging.message.id           enqueue, and process in Worker.Run
//	messaging.batch.message_count  receive and peek: the messages of the reply
//	azpatterns.job.id              process: the id of the operation
//	azpatterns.job.attempt         process: the number of the attempt
//
// The clients of the SDK send no id of their own. With this they do; accelerated clients then have
// no shortcut, which takes a third of the time of a point read in the process:
//
//	opts.PerCallPolicies = append(opts.PerCallPolicies, runtime.NewRequestIDPolicy())
//
// A message that is put within a span of this package contains its trace, 66 bytes more, unless
// an outbox message would be too large with it: no message is refused because of its trace. The
// span of each attempt on the message is the first of a new trace, and linked to it: to that
// of the Enqueue, of the Store operation that the message finishes, or of the attempt that
// enqueued it. Baggage and trace state are not carried.
//
// # Metrics
//
//	db.client.operation.duration         s          histogram  tries of requests to tables
//	messaging.client.operation.duration  s          histogram  tries of requests to queues, and calls of Enqueue
//	messaging.client.sent.messages       {message}  counter    messages added
//	messaging.process.duration           s          histogram  attempts of a Worker
//	messaging.client.consumed.messages   {message}  counter    attempts of a Worker
//	http.client.request.duration         s          histogram  tries of requests to blobs
//	azpatterns.operation.duration        s          histogram  operations of tables and stores
//	azpatterns.queue.messages            {message}  gauge      ObserveQueue: visible and hidden messages
//	azpatterns.queue.age                 s          gauge      ObserveQueue: age of the first visible message
//
// ObserveHeat records the counters of heat.Counters as gauges:
//
//	azpatterns.heat.transactions             {transaction}  Transactions
//	azpatterns.heat.write.entities           {entity}       Written
//	azpatterns.heat.write.ascending          {entity}       Ascending
//	azpatterns.heat.write.descending         {entity}       Descending
//	azpatterns.heat.partition.last_changes   {change}       LastChanged
//	azpatterns.heat.partition.first_changes  {change}       FirstChanged
//	azpatterns.heat.scan.queries             {query}        Scans
//	azpatterns.heat.scan.minutes             min            ScanMinutes
//	azpatterns.heat.scan.pages               {page}         ScanPages
//	azpatterns.heat.scan.rows                {entity}       ScanRows
//	azpatterns.heat.filter.queries           {query}        Filtered
//	azpatterns.heat.filter.pages             {page}         FilteredPages
//	azpatterns.heat.filter.rows              {entity}       FilteredRows
//	azpatterns.heat.filter.duration          s              FilteredMillis
//	azpatterns.heat.point.requests           {request}      Points
//	azpatterns.heat.point.duration           s              PointMillis
//	azpatterns.heat.write.single             {entity}       Single
//	azpatterns.heat.write.batchable          {entity}       Batchable
//	azpatterns.heat.write.large              {request}      Large
//	azpatterns.heat.write.large_failed       {request}      LargeFailed
//	azpatterns.heat.write.large_resent       By             LargeResent
//	azpatterns.heat.poll.requests            {request}      Polls
//	azpatterns.heat.poll.empty               {request}      EmptyPolls
//	azpatterns.heat.poll.minutes             min            PollMinutes
//	azpatterns.heat.connection.requests      {request}      Traced
//	azpatterns.heat.connection.opened        {connection}   Dialed
//
// The attributes of metrics are names of accounts, tables, queues and kinds of jobs, codes of
// errors and statuses: never a key, a partition or an ID. The value of db.system.name is
// azure.table_storage, that of messaging.system azure.queue_storage: the conventions name
// neither service.
//
// # Dashboard and alerts
//
// The folder dashboard contains a dashboard for Grafana, grafana.json, and alert rules for Prometheus,
// alerts.yaml. Their names are those that Prometheus makes of the metrics above, with units as suffixes. A
// test compares each name and each label with what is emitted. Import the dashboard in Grafana under
// Dashboards, New, Import; list the rules in rule_files of the configuration of Prometheus. For the alert
// PoisonMessages, call ObserveQueue for the poison queue as well.
//
// # Cost
//
// A program without this package pays nothing: an operation without a provider makes no
// allocation for spans. With it, a point read makes two spans and two measurements. This
// prints what they cost:
//
//	go test -run '^$' -bench Get -benchmem -count 10
//
//	                                    time     allocations
//	without this package                13.3 µs  101
//	with it, no span is recorded        19.7 µs  147
//	with it, every span is recorded     23.7 µs  155
//
// The times are the fastest of 36 runs on the account in the process, which takes most of the first
// line; they were measured before spans had the ids of requests. A request to the service takes milliseconds.
//
// The conventions: https://opentelemetry.io/docs/specs/semconv/
package otel
