// Package fault wraps an HTTP transport and does to its requests what
// production does: it loses, delays, refuses, repeats and cuts them, by a
// script. It also keeps a log of every request with what it cost.
//
// It knows the Table, Queue and Blob services by their addresses, and works
// alike around the in-process account of storagetest and around a real
// http.Client that talks to Azurite or Azure.
//
// # Rules
//
// A script is a list of rules, and a rule reads like a sentence:
//
//	On("Table.Batch").Nth(3).LoseReply()               // the third batch: carried out, the answer is lost
//	On("Table.*").Probability(0.1).Status(503, "ServerBusy")
//	On("Table.Query").Delay(2 * time.Second).LoseRequest()
//	On("Queue.Put").Nth(2).Times(Forever).LoseRequest() // the process has died
//
// On names operations, see [Op]; "*" stands for any text. Nth, Times, Where and
// Probability say which of the matching requests; without them it is every
// one. The rest says what happens to these.
//
// Every rule counts every request that it matches, whatever other rules do.
// Where several rules act on one request, their delays add up, and of two that
// decide its outcome the one that was added first decides.
package fault
