// Command functions is a custom handler of Azure Functions: the host receives the messages
// of the queue "work", posts each of them to this program, and deletes it or delivers it
// again, depending on the status of the reply.
//
// Problem: a change of an employee updates an index in other partitions. If the process
// dies in between, or a letter cannot be sent, someone has to finish the work, and no
// process is to run while there is none.
//
// Solution: [eventual.Worker.Process] handles one delivery with the handlers of a worker.
// The folder is a function app, whose settings are AzureWebJobsStorage, a connection string,
// and FUNCTIONS_WORKER_RUNTIME=custom:
//
//	cd examples/functions && go build && func start
//
// A test replays the messages between the host and this program as the documentation of the host
// describes them; the host itself does not run in it.
//
// The function "late" has the queue of late checks as its trigger, whose messages are hidden
// for an hour. They keep no instance running: the scale controller of Azure Functions peeks,
// and so ignores hidden messages. A scaler of KEDA counts them, unless its queueLengthStrategy
// is visibleonly.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// Employee has an index by last name in other partitions.
type Employee struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	Last       string
}

// Letter is the payload of the jobs of the kind "letter.send".
type Letter struct{ To, Text string }

func main() {
	connection := os.Getenv("AzureWebJobsStorage")
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	tables, err := aztables.NewServiceClientFromConnectionString(connection, &opts)
	check(err)
	queues, err := azqueue.NewServiceClientFromConnectionString(connection, nil)
	check(err)
	worker, _, err := newWorker(tables, queues.NewQueueClient, os.Stdout)
	check(err)
	check(worker.Create(context.Background()))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("FUNCTIONS_CUSTOMHANDLER_PORT"), handler(worker)))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// newWorker registers what the messages of the queue can ask for. The programs that change
// employees use the same store.
func newWorker(tables *aztables.ServiceClient, queue func(name string) *azqueue.QueueClient, out io.Writer) (*eventual.Worker, *patterns.Store[Employee], error) {
	work, staff := queue("work"), tables.NewClient("Staff")
	byLast := secondaryindex.Inter("byLast", staff, func(e *Employee) (string, bool) { return e.Last, e.Last != "" },
		&secondaryindex.Options[Employee]{NonUnique: true, Partition: func(_, last string) string { return "last_" + keys.Escape(last) }})
	outbox, err := eventual.NewOutbox(work, "staff", nil)
	if err != nil {
		return nil, nil, err
	}
	table, err := patterns.NewTable[Employee](staff, nil)
	if err != nil {
		return nil, nil, err
	}
	store, err := patterns.NewStore(table, &patterns.StoreOptions[Employee]{Views: []patterns.View[Employee]{byLast}, Outbox: outbox})
	if err != nil {
		return nil, nil, err
	}
	worker, err := eventual.NewWorker(work, &eventual.Options{
		Poison:     queue("work-poison"),
		LateChecks: queue("work-late"),
	})
	if err != nil {
		return nil, nil, err
	}
	eventual.HandleOutbox(worker, "staff", store)
	eventual.Handle(worker, "letter.send", func(_ context.Context, job eventual.Job[Letter]) error {
		if job.Message.To == "" {
			return fmt.Errorf("attempt %d: no address", job.Attempt)
		}
		_, err := fmt.Fprintf(out, "Dear %s, %s\n", job.Message.To, job.Message.Text)
		return err
	})
	return worker, store, nil
}

// invocation is what the host posts. Message is the name in function.json.
//
// https://learn.microsoft.com/azure/azure-functions/functions-custom-handlers
type invocation struct {
	Data     struct{ Message json.RawMessage }
	Metadata struct{ DequeueCount json.RawMessage }
}

// handler serves the functions "work" and "late". The status of a reply decides what the host
// does with the message: after 200 it deletes it, after any other it delivers it again.
func handler(worker *eventual.Worker) http.Handler {
	process := func(w http.ResponseWriter, r *http.Request) {
		var in invocation
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Data.Message == nil {
			http.Error(w, "not an invocation", http.StatusBadRequest)
			return
		}
		attempt, _ := strconv.Atoi(plain(in.Metadata.DequeueCount)) // 0 means unknown
		if err := worker.Process(r.Context(), plain(in.Data.Message), attempt); err != nil {
			log.Print(err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{"Outputs":{},"Logs":[],"ReturnValue":null}`)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /work", process)
	mux.HandleFunc("POST /late", process)
	return mux
}

// plain returns the text of a value: hosts differ in how often they quote it.
func plain(value json.RawMessage) string {
	text := strings.TrimSpace(string(value))
	for strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &text) == nil {
	}
	return text
}
