package parallel

import (
	"context"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

func load(ctx context.Context, table *aztables.Client, ids []string) []error {
	var wait sync.WaitGroup
	errs := make([]error, len(ids))
	for i, id := range ids {
		wait.Add(1)
		go func() { // want `this starts a goroutine with a request for each element.*parallel, warning`
			defer wait.Done()
			_, errs[i] = table.GetEntity(ctx, "p", id, nil)
		}()
	}
	wait.Wait()
	return errs
}

func loadSome(ctx context.Context, table *aztables.Client, ids []string) []error {
	var wait sync.WaitGroup
	errs := make([]error, len(ids))
	slots := make(chan struct{}, 16)
	for i, id := range ids {
		wait.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wait.Done() }()
			_, errs[i] = table.GetEntity(ctx, "p", id, nil)
		}()
	}
	wait.Wait()
	return errs
}

type worker struct{ queue *azqueue.QueueClient }

func (w *worker) one(ctx context.Context, m *azqueue.DequeuedMessage) error {
	if *m.DequeueCount > 5 {
		return nil
	}
	_, err := w.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
	return err
}

func (w *worker) run(ctx context.Context, tick <-chan bool) error {
	for range tick {
		reply, err := w.queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(32))})
		if err != nil {
			return err
		}
		for _, m := range reply.Messages {
			go w.one(ctx, m) // want `this starts a goroutine with a request for each element`
		}
	}
	return nil
}

func (w *worker) runAndWait(ctx context.Context, tick <-chan bool) error {
	for range tick {
		reply, err := w.queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(32))})
		if err != nil {
			return err
		}
		var wait sync.WaitGroup
		for _, m := range reply.Messages {
			wait.Go(func() { w.one(ctx, m) })
		}
		wait.Wait()
	}
	return nil
}

func loadInGroup(ctx context.Context, table *aztables.Client, ids []string) []error {
	var wait sync.WaitGroup
	errs := make([]error, len(ids))
	for i, id := range ids {
		wait.Go(func() { _, errs[i] = table.GetEntity(ctx, "p", id, nil) }) // want `this starts a goroutine with a request for each element`
	}
	wait.Wait()
	return errs
}
