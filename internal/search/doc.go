// Package search explores every order of the requests of a few processes, with their crashes, late requests and pauses, on the
// in-process account. The processes run the real code. A run is a list of choices, and is repeated from it.
//
// A [Case] declares what the processes do and what must hold. The processes send through [Client]s: each request waits until
// the search chooses it, and its reply is delivered before the next choice. So a choice is one of these:
//
//   - a request is carried out and answered
//   - a write gets no reply, and arrives at a later choice: between the two are all delays, and the loss of the reply
//   - a process crashes: its requests that wait are never carried out, and it sends no more
//   - a request is carried out, but its process learns it only after a time that [Case.Pause] sets, when it continues
//
// All time but that of a pause is virtual and short, so that it has no effect on the processes.
//
// Two lists of choices that differ only in the order of independent neighbours lead to the same state; the search makes one of
// them (sleep sets, after Godefroid). Requests are independent if they belong to different processes and do not address the
// same row or message, or only read it. Two states are the same if the rows and messages are, and all that the processes were
// answered, apart from the names of versions and of random ids; what follows a state is explored once. A process must
// therefore depend on nothing but its replies.
package search
