package main

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// scaler replays what a ScaledJob of KEDA with an azure-queue trigger does, request by request: each polling interval it reads how
// long the queue is, and starts jobs for it.
//
//	all          Get Queue Metadata: the approximate number of messages, also of hidden ones
//	visibleonly  Peek Messages, 32: their number, or if there are 32, that of all
//
// It wants one job for each so many messages, at most so many at a time, less those that run: the strategy "default".
//
// https://keda.sh/docs/latest/scalers/azure-storage-queue/
// https://keda.sh/docs/latest/reference/scaledjob-spec/
type scaler struct {
	interval     time.Duration
	queueLength  int
	maxReplicas  int
	visibleOnly  bool
	queue        *azqueue.QueueClient
	start        func(ctx context.Context)
	running      atomic.Int32
	started      int
	most         int32
	length, poll int // of the last poll, and their number
}

// read returns the length of the queue.
func (s *scaler) read(t *testing.T) int {
	t.Helper()
	if s.visibleOnly {
		peeked := assert.Must(s.queue.PeekMessages(t.Context(), &azqueue.PeekMessagesOptions{NumberOfMessages: to.Ptr(int32(32))}))(t)
		if n := len(peeked.Messages); n < 32 {
			return n
		}
	}
	return int(*assert.Must(s.queue.GetProperties(t.Context(), nil))(t).ApproximateMessagesCount)
}

// run polls for some time.
func (s *scaler) run(t *testing.T, ctx context.Context, long time.Duration) {
	t.Helper()
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(s.interval) {
		s.poll++
		s.length = s.read(t)
		want := min((s.length+s.queueLength-1)/s.queueLength, s.maxReplicas) - int(s.running.Load())
		for range want {
			s.started++
			s.most = max(s.most, s.running.Add(1))
			go func() {
				defer s.running.Add(-1)
				s.start(ctx)
			}()
		}
	}
}

// newScaler reads the manifest of the example.
func newScaler(t *testing.T, s *service) *scaler {
	t.Helper()
	text := string(assert.Must(os.ReadFile("scaledjob.yaml"))(t))
	value := func(name string) string {
		found := regexp.MustCompile(`(?m)^\s+` + name + `: "?([^"\n]+)"?$`).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("scaledjob.yaml has no %s", name)
		}
		return found[1]
	}
	number := func(name string) int { return assert.Must(strconv.Atoi(value(name)))(t) }
	k := &scaler{
		interval: time.Duration(number("pollingInterval")) * time.Second, queueLength: number("queueLength"), maxReplicas: number("maxReplicaCount"),
		visibleOnly: value("queueLengthStrategy") == "visibleonly", queue: s.acct.Queue(value("queueName")),
	}
	k.start = func(ctx context.Context) {
		if err := drain(ctx, s.acct.Queue, s.jobs, false, &s.out); err != nil {
			t.Errorf("a job failed: %v", err)
		}
	}
	return k
}

func TestTheScalerStartsJobsUntilTheQueueIsEmptyAndNoneAfterwards(t *testing.T) {
	for _, visibleOnly := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t)
			k := newScaler(t, s)
			k.visibleOnly = visibleOnly
			k.run(t, t.Context(), 5*time.Minute)
			if k.started != 0 {
				t.Errorf("%d jobs for no message", k.started)
			}
			for range 120 {
				put(t, s.work, Letter{"Ken", "welcome"})
			}
			put(t, s.work, Letter{"", "who?"})
			k.run(t, t.Context(), 10*time.Minute)
			if k.running.Load() != 0 || k.length != 0 || k.started < 1 || k.most > 4 {
				t.Errorf("%d jobs started, %d at a time, %d run, %d messages", k.started, k.most, k.running.Load(), k.length)
			}
			if n := strings.Count(s.out.text.String(), "Dear Ken, welcome\n"); n != 120 {
				t.Errorf("%d letters", n)
			}
			wantCount(t, s.work, 0)
			wantCount(t, s.acct.Queue("work-poison"), 1)
			before := k.started
			k.run(t, t.Context(), time.Hour)
			if k.started != before {
				t.Errorf("%d jobs without a message", k.started-before)
			}
		})
	}
}

// The pod of a job is deleted: its messages become visible, and the scaler starts another job for them.
func TestTheScalerReplacesAJobThatIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		k := newScaler(t, s)
		for range 40 {
			put(t, s.work, Letter{"Ken", "welcome"})
		}
		whole := k.start
		k.start = func(ctx context.Context) { // receives messages, and is killed
			_, err := s.work.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(32)), VisibilityTimeout: to.Ptr(int32(60))})
			assert.NoError(t, err)
		}
		k.run(t, t.Context(), time.Second)
		synctest.Wait()
		k.start = whole
		k.run(t, t.Context(), 10*time.Minute)
		if n := strings.Count(s.out.text.String(), "Dear Ken, welcome\n"); n != 40 || k.running.Load() != 0 {
			t.Errorf("%d letters, %d jobs", n, k.running.Load())
		}
		wantCount(t, s.work, 0)
	})
}

// The check of an operation that was completed is hidden for an hour. It is on a queue that the scaler does not read, and the
// schedule starts the job for it.
func TestALateCheckStartsNoJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		k := newScaler(t, s)
		s.acct.Fault(storagetest.On("*").Nth(3).Times(storagetest.Forever).LoseRequest())
		_, _ = s.jobs.Insert(t.Context(), &Employee{"Sales", "456", "Kwok"})
		s.acct.ClearFaults()
		k.run(t, t.Context(), 15*time.Minute)
		wantCount(t, s.work, 0)
		wantCount(t, s.acct.Queue("work-late"), 1)
		before := k.started
		k.run(t, t.Context(), 2*time.Hour)
		if k.started != before || before == 0 {
			t.Errorf("%d jobs, then %d", before, k.started-before)
		}
		s.run(t, true)
		wantCount(t, s.acct.Queue("work-late"), 0)
	})
}
