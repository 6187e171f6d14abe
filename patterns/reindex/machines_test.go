package reindex_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// machineVariable is set in the processes of the test below, to what they connect to.
const machineVariable = "AZPATTERNS_REINDEX_MACHINE"

// machine is what a process connects to.
type machine struct{ Connection, People, Badges, State, Jobs, Outbox string }

func (m *machine) tables(t testing.TB) *aztables.ServiceClient {
	return assert.Must(aztables.NewServiceClientFromConnectionString(m.Connection, harness.Accelerated()))(t)
}

func (m *machine) queue(t testing.TB, name string) *azqueue.QueueClient {
	return assert.Must(azqueue.NewQueueClientFromConnectionString(m.Connection, name, nil))(t)
}

// runs returns the runs, and a worker for them.
func (m *machine) runs(t testing.TB) (*reindex.Runs, *eventual.Worker) {
	service, jobs := m.tables(t), m.queue(t, m.Jobs)
	store := harness.NewStore(t, service.NewClient(m.People), &patterns.StoreOptions[person]{
		Views: views(t, service.NewClient(m.Badges)), Outbox: assert.Must(eventual.NewOutbox(m.queue(t, m.Outbox), "people", nil))(t), Expiry: time.Minute,
	})
	runs := assert.Must(reindex.NewRuns(store, service.NewClient(m.State), &reindex.RunsOptions{Enqueue: func(ctx context.Context, j reindex.Job) error {
		return eventual.Enqueue(ctx, jobs, "people.reindex", j, nil)
	}}))(t)
	w := assert.Must(eventual.NewWorker(jobs, &eventual.Options{
		Parallel: 2, Visibility: time.Second, Tries: 1000, PollMin: 10 * time.Millisecond, PollMax: 100 * time.Millisecond,
		Backoff: func(int) time.Duration { return 0 },
	}))(t)
	eventual.Handle(w, "people.reindex", func(ctx context.Context, j eventual.Job[reindex.Job]) error { return runs.Do(ctx, j.Message) })
	return runs, w
}

// It is a process of the test below.
func TestMachine(t *testing.T) {
	text := os.Getenv(machineVariable)
	if text == "" {
		return
	}
	var m machine
	assert.NoError(t, json.Unmarshal([]byte(text), &m))
	_, w := m.runs(t)
	assert.NoError(t, w.Run(t.Context()))
}

func TestFourProcessesThatAreKilledAtRandomShareARun(t *testing.T) {
	a := azurite.Shared(t)
	m := &machine{Connection: a.ConnectionString(), People: harness.UniqueName(), Badges: harness.UniqueName(), State: harness.UniqueName(), Jobs: harness.UniqueName(), Outbox: harness.UniqueName()}
	service := m.tables(t)
	w := &world{people: service.NewClient(m.People), badges: service.NewClient(m.Badges), queue: new(countedQueue)}
	w.Store = w.open(t, views(t, w.badges)...)
	runs, last := m.runs(t)
	assert.NoError(t, runs.Create(t.Context()))
	for _, client := range []*aztables.Client{w.people, w.badges} {
		assert.Must(client.CreateTable(t.Context(), nil))(t)
	}
	for _, name := range []string{m.Jobs, m.Outbox} {
		assert.Must(m.queue(t, name).Create(t.Context(), nil))(t)
	}
	t.Cleanup(func() {
		for _, name := range []string{m.People, m.Badges, m.State} {
			assert.Must(service.NewClient(name).Delete(context.Background(), nil))(t)
		}
		for _, name := range []string{m.Jobs, m.Outbox} {
			assert.Must(m.queue(t, name).Delete(context.Background(), nil))(t)
		}
	})
	n := size(t, 6000)
	w.fill(t, n, true)
	want := w.damage(t, n, 150)

	variable := assert.Must(json.Marshal(m))(t)
	startMachine := func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMachine$")
		cmd.Env = append(os.Environ(), machineVariable+"="+string(variable))
		assert.NoError(t, cmd.Start())
		return cmd
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	assert.NoError(t, runs.Verify(t.Context(), "a run", &reindex.Options{Parallel: 1, Segments: 12}))
	segments := assert.Must(runs.Status(t.Context(), "a run"))(t).Jobs

	var machines [4]*exec.Cmd
	for i := range machines {
		machines[i] = startMachine()
	}
	// Each time the run has made some progress, one of the processes is killed and replaced.
	const kills = 8
	status := func() reindex.Status { return assert.Must(runs.Status(t.Context(), "a run"))(t) }
	killed, next := 0, 0
	for s := status(); s.Stage != "complete" && killed < kills; s = status() {
		if s.Done < next {
			continue
		}
		next = s.Done + chance.IntN(3)
		if s.Stage == "confirming" {
			next = 0
		}
		i := chance.IntN(len(machines))
		assert.NoError(t, machines[i].Process.Kill())
		_ = machines[i].Wait()
		machines[i] = startMachine()
		killed++
	}
	for _, cmd := range machines {
		assert.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- last.Run(ctx) }()
	for status().Stage != "complete" {
	}
	stop()
	assert.NoError(t, <-ended)

	s := status()
	t.Logf("%d killed, %d segments: %v", killed, segments, s)
	if r := s.Report; segments < 10 || killed < 4 || r.Primaries != n || r.Failed+r.Undecided > 0 || r.Missing+r.Wrong+r.Orphan+r.Duplicate != len(want) {
		t.Errorf("%d segments, %d killed: %v", segments, killed, s)
	}
	checkFindings(t, seed, assert.All(t, runs.Findings(t.Context(), "a run")), want)
}
