// Package fault wraps an HTTP transport and injects the faults of production: by rules, it
// loses, delays, refuses and repeats requests, and truncates replies. It also keeps a log of
// every request and its cost.
//
// It recognizes the requests to the Table, Queue and Blob services by their addresses,
// and works with the in-process account and with an http.Client that sends to Azurite
// or Azure.
//
// # Rules
//
//	On("Table.Batch").Nth(3).LoseReply()                // the third batch is carried out, the reply is lost
//	On("Table.*").Probability(0.1).Status(503, "ServerBusy")
//	On("Table.Query").Delay(2 * time.Second).LoseRequest()
//	On("Table.Insert").Nth(1).LateRequest(time.Second, time.Minute)
//	On("Queue.Put").Nth(2).Times(Forever).LoseRequest() // the process has died
//
// On selects operations, see [op.Op]; "*" matches any text. Nth, Times, Where and
// Probability restrict a rule to some of the matching requests. The other methods are
// the effects.
//
// A rule counts every request that it matches, regardless of other rules. If several rules
// act on one request, their delays add up, and the outcome is that of the rule that was
// added first.
package fault
