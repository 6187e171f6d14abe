package heat_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/azpatterns/azpatterns/patterns/heat"
)

// A world is one load in virtual time: an account, processes that send requests to it through the pipeline of the SDK, and for each table
// or queue the number of requests that the same work takes in the best layout. The account knows no rows, only how many there are, which
// makes it fifty times as fast as storagetest; it refuses exactly what storagetest refuses at the documented targets:
// TestTheAccountOfALoadRefusesAsStoragetest. Pages end after 250 examined rows, as with storagetest.Options.Production.
type world struct {
	procs   []*process
	latency time.Duration
	jitter  float64
	pauses  float64 // the probability that a worker pauses after a step
	end     time.Time
	loops   []func()
	workers sync.WaitGroup
	think   time.Duration // between the requests of a step
	keep    int           // idle connections that a process keeps

	mu      sync.Mutex
	rng     *rand.Rand
	best    map[string]int // requests by resource
	seen    map[string]*seen
	etags   map[string]int // changes of a row
	waiting map[string]int // messages of a queue
	used    map[string]int // by partition or queue, "" for the account; in this second and from earlier ones
	second  int64

	timeouts    float64 // share of the large writes that time out
	sent, dials int     // requests, and connections that they opened
}

// pageRows is how many rows a page examines at most.
const pageRows = 250

// process is a process of the load. The meter of one that is not observed is nil.
type process struct {
	w     *world
	pipe  runtime.Pipeline
	meter *heat.Meter
}

// newWorld returns a world of 1 to 4 processes. In every fourth, only a part of them is observed.
func newWorld(t *testing.T, rng *rand.Rand) *world {
	t.Helper()
	time.Sleep(time.Duration(20*365*24+rng.IntN(8*365*24))*time.Hour + time.Duration(rng.IntN(3600))*time.Second)
	w := &world{rng: rng, best: map[string]int{}, seen: map[string]*seen{}, etags: map[string]int{}, waiting: map[string]int{},
		used: map[string]int{}, keep: pick(rng, 0, 2, 100, 100, 100, 100, 100, 100)}
	w.latency = logTime(rng, time.Millisecond, 200*time.Millisecond)
	w.jitter = rng.Float64()
	w.think = logTime(rng, 10*time.Microsecond, 4*time.Millisecond)
	if rng.IntN(2) == 0 {
		w.pauses = rng.Float64() * 0.02
	}
	n := 1 + rng.IntN(4)
	observed := n
	if rng.IntN(4) == 0 {
		observed = (n + 1) / 2
	}
	for i := range n {
		w.procs = append(w.procs, w.newProcess(t, i < observed))
	}
	return w
}

func (w *world) newProcess(t *testing.T, observed bool) *process {
	t.Helper()
	p := &process{w: w}
	var opts azcore.ClientOptions
	opts.Transport = &network{w: w}
	if observed {
		var err error
		if p.meter, err = heat.NewMeter(nil); err != nil {
			t.Fatal(err)
		}
		p.meter.Attach(&opts)
	}
	p.pipe = runtime.NewPipeline("heat_test", "v1", runtime.PipelineOptions{}, &opts)
	return p
}

// need adds to the requests that the best layout makes.
func (w *world) need(resource string, requests int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.best[resource] += requests
}

// step is what a worker does repeatedly: i is the number of the repetition.
type step func(p *process, rng *rand.Rand, worker, i int)

// loop adds n workers, which together make rate steps per second if the latency permits, until the load ends.
func (w *world) loop(n int, rate float64, s step) {
	period := float64(time.Second) * float64(n) / rate
	for k := range n {
		rng := rand.New(rand.NewPCG(w.rng.Uint64(), 1))
		w.loops = append(w.loops, func() {
			defer w.workers.Done()
			time.Sleep(time.Duration(rng.Float64() * period))
			for i := 0; time.Now().Before(w.end); i++ {
				due := time.Now().Add(time.Duration(period * (1 + w.jitter*(rng.Float64()-0.5))))
				s(w.procs[k%len(w.procs)], rng, k, i)
				if rng.Float64() < w.pauses {
					due = due.Add(time.Duration(rng.IntN(10_000)) * time.Millisecond)
				}
				// What a step is about arrives on its own: no step follows the one before immediately.
				time.Sleep(max(time.Until(due), time.Duration(rng.ExpFloat64()*period/3)))
			}
		})
	}
}

// start starts the loops.
func (w *world) start() {
	w.workers.Add(len(w.loops))
	for _, l := range w.loops {
		go l()
	}
}

// snapshots are those of the observed processes.
func (w *world) snapshots() (of []*heat.Snapshot) {
	for _, p := range w.procs {
		if p.meter != nil {
			of = append(of, p.meter.Snapshot())
		}
	}
	return of
}

// logTime returns a duration between two, whose logarithm is evenly distributed.
func logTime(rng *rand.Rand, low, high time.Duration) time.Duration {
	return time.Duration(logRate(rng, float64(low), float64(high)))
}
