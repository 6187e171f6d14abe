package main

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
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

// service is an account with the queues and the tables of the job.
type service struct {
	acct *storagetest.Account
	work *azqueue.QueueClient
	out  output
	jobs *patterns.Store[Employee]
}

func newService(t *testing.T) *service {
	s := &service{acct: storagetest.New(t)}
	s.work = s.acct.Queue("work")
	store := assert.Must(newStore(s.acct.Tables(), s.work))(t)
	s.jobs = store
	errs := []error{store.Create(t.Context())}
	for _, name := range []string{"work-poison", "work-late"} {
		_, err := s.acct.Queue(name).Create(t.Context(), nil)
		errs = append(errs, err)
	}
	assert.NoError(t, errors.Join(errs...))
	return s
}

// run runs the job, and returns how long it took.
func (s *service) run(t *testing.T, late bool) time.Duration {
	t.Helper()
	began := time.Now()
	assert.NoError(t, drain(t.Context(), s.acct.Queue, s.jobs, late, &s.out))
	return time.Since(began)
}

func put(t *testing.T, queue *azqueue.QueueClient, letter Letter) {
	t.Helper()
	assert.NoError(t, eventual.Enqueue(t.Context(), queue, "letter.send", letter, nil))
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
		s := newService(t)
		for range 100 {
			put(t, s.work, Letter{"Ken", "welcome"})
		}
		put(t, s.work, Letter{"", "who?"})
		took := s.run(t, false)
		if n := strings.Count(s.out.text.String(), "Dear Ken, welcome\n"); n != 100 {
			t.Errorf("%d letters", n)
		}
		wantCount(t, s.work, 0)
		wantCount(t, s.acct.Queue("work-poison"), 1)
		if took > time.Minute {
			t.Errorf("took %v", took)
		}
	})
}

func TestTheJobEndsIfThereIsNothingToDo(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			if took := newService(t).run(t, late); took > 10*time.Second {
				t.Errorf("late: %t, took %v", late, took)
			}
		})
	}
}

func TestALateCheckKeepsNoJobRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		// The process dies when the employee is inserted, and the index is not yet changed.
		s.acct.Fault(storagetest.On("*").Nth(3).Times(storagetest.Forever).LoseRequest())
		_, _ = s.jobs.Insert(t.Context(), &Employee{"Sales", "456", "Kwok"})
		s.acct.ClearFaults()
		wantCount(t, s.work, 1)
		late := s.acct.Queue("work-late")
		if took := s.run(t, false); took > 5*time.Minute {
			t.Errorf("took %v", took)
		}
		wantCount(t, s.work, 0) // the scaler starts no further job
		wantCount(t, late, 1)
		if took := s.run(t, true); took > 10*time.Second { // the check is not due
			t.Errorf("took %v", took)
		}
		wantCount(t, late, 1)
		time.Sleep(24 * time.Hour)
		s.run(t, true)
		wantCount(t, late, 0)
		wantCount(t, s.acct.Queue("work-poison"), 0)
	})
}
