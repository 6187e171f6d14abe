package main

import (
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// output is what concurrent handlers print.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func newQueues(t *testing.T) (work, poison *azqueue.QueueClient) {
	acct := storagetest.New(t)
	work, poison = acct.Queue("work"), acct.Queue("work-poison")
	for _, queue := range []*azqueue.QueueClient{work, poison} {
		if _, err := queue.Create(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	return work, poison
}

func put(t *testing.T, queue *azqueue.QueueClient, letter Letter) {
	t.Helper()
	if err := eventual.Enqueue(t.Context(), queue, "letter.send", letter, nil); err != nil {
		t.Fatal(err)
	}
}

func wantCount(t *testing.T, queue *azqueue.QueueClient, want int32) {
	t.Helper()
	p, err := queue.GetProperties(t.Context(), nil)
	if err != nil || *p.ApproximateMessagesCount != want {
		t.Fatal(p, err)
	}
}

func TestTheJobProcessesAllMessagesAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work, poison := newQueues(t)
		for range 100 {
			put(t, work, Letter{"Ken", "welcome"})
		}
		put(t, work, Letter{"", "who?"})
		var out output
		began := time.Now()
		if err := drain(t.Context(), work, poison, &out); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.text.String(), "Dear Ken, welcome\n"); n != 100 {
			t.Errorf("%d letters", n)
		}
		wantCount(t, work, 0)
		wantCount(t, poison, 1)
		if took := time.Since(began); took > time.Minute {
			t.Errorf("took %v", took)
		}
	})
}

func TestTheJobEndsIfThereIsNothingToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work, poison := newQueues(t)
		began := time.Now()
		if err := drain(t.Context(), work, poison, io.Discard); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
