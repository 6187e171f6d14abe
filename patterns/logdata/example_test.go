package logdata_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func Example() {
	ctx := context.Background()
	acct := storagetest.Start(nil) // an account in this process
	logs := acct.Container("logs")
	if _, err := logs.Create(ctx, nil); err != nil {
		log.Fatal(err)
	}

	w, err := logdata.NewWriter(logs, "web", nil)
	if err != nil {
		log.Fatal(err)
	}
	start := time.Date(2014, 7, 31, 15, 0, 0, 0, time.UTC)
	for minute := range 10 {
		r := logdata.Record{Time: start.Add(time.Duration(minute) * time.Minute), Type: "INFO", Message: "served"}
		if minute%5 == 0 {
			r.Type, r.Message = "ERROR", "disk full"
		}
		if err := w.Write(ctx, r); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(acct.Log())-1, "requests") // one made the container

	r, err := logdata.NewReader(logs, "web", nil)
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range r.Query(ctx, start.Add(4*time.Minute), start.Add(6*time.Minute), "", &logdata.QueryOptions{Types: []string{"ERROR"}}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Time.Format(time.TimeOnly), e.Type, e.Message)
	}
	// Output:
	// 2 requests
	// 15:05:00 ERROR disk full
}

// A program logs through slog and closes the Writer before it exits.
func ExampleNewHandler() {
	ctx := context.Background()
	logs := storagetest.Start(nil).Container("logs")
	if _, err := logs.Create(ctx, nil); err != nil {
		log.Fatal(err)
	}
	w, err := logdata.NewWriter(logs, "web", nil)
	if err != nil {
		log.Fatal(err)
	}
	h, err := logdata.NewHandler(w, nil)
	if err != nil {
		log.Fatal(err)
	}
	began := time.Now()
	logger := slog.New(h).With("host", "web-1")
	logger.Info("started", slog.Group("build", "version", "1.2.3"))
	if err := w.Close(ctx); err != nil {
		log.Fatal(err)
	}

	r, err := logdata.NewReader(logs, "web", nil)
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range r.Query(ctx, began, time.Now(), "", nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Type, e.Message, string(e.Attrs))
	}
	// Output: INFO started {"host":"web-1","build":{"version":"1.2.3"}}
}
