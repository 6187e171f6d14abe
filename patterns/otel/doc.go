// Package otel reports what programs on azpatterns do to OpenTelemetry. It is a module of
// its own, so that the library does not depend on OpenTelemetry.
//
//	opts := patterns.Accelerate(nil)
//	otel.Attach(&opts.ClientOptions, nil) // requests
//
//	provider, err := otel.NewProvider(nil) // operations, and attempts of a Worker
//	table, err := patterns.NewTable(client, &patterns.TableOptions[Employee]{Tracing: provider})
//	worker, err := eventual.NewWorker(queue, &eventual.Options{Tracing: provider})
//
//	gauges, err := otel.ObserveQueue(queue, nil) // backlog
//	gauges, err := otel.ObserveHeat(meter, nil)
//
// # Spans
//
// The names and attributes are those of the semantic conventions for databases and
// messaging. No attribute contains a key, a value or the address of a row. Errors are
// described by their code and by a text without keys and values.
//
//	span                 kind      of
//	table.update         internal  an operation of a Table: insert, get, query, scan, bulk, batch, …
//	store.update         internal  an operation of a Store
//	process work         consumer  an attempt of a Worker on a message of the queue "work"
//	GetEntity Employees  client    a try of a request to a table
//	send work            producer  a try of a request that adds a message
//	receive work         client    a request for messages; also peek, delete and update
//	GET                  client    a try of a request to a blob, by the conventions for HTTP
//
// Attach observes each try of a request as the SDK sends it. The requests of an operation are
// children of its span. The span of a query or a scan ends with the loop that reads it.
//
// # Metrics
//
//	db.client.operation.duration         s          histogram  tries of requests to tables
//	messaging.client.operation.duration  s          histogram  tries of requests to queues
//	messaging.client.sent.messages       {message}  counter    messages added
//	messaging.process.duration           s          histogram  attempts of a Worker
//	messaging.client.consumed.messages   {message}  counter    attempts of a Worker
//	http.client.request.duration         s          histogram  tries of requests to blobs
//	azpatterns.operation.duration        s          histogram  operations of tables and stores
//	azpatterns.queue.messages            {message}  gauge      ObserveQueue: visible and hidden messages
//	azpatterns.queue.age                 s          gauge      ObserveQueue: age of the first visible message
//	azpatterns.heat.…                    {…}        gauge      ObserveHeat: the counters of heat.Counters
//
// The value of db.system.name is azure.table_storage, that of messaging.system
// azure.queue_storage: the conventions name neither service.
//
// https://opentelemetry.io/docs/specs/semconv/
package otel
