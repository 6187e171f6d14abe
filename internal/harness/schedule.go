package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// SchedulesVariable is the environment variable with the number of random schedules that
// each mode of each suite runs. If it is not set, each suite has a default.
const SchedulesVariable = "AZPATTERNS_SCHEDULES"

// SeedVariable is the environment variable with the number from which every suite derives the
// seeds of its schedules. If it is not set, each run draws one, so that it explores
// schedules that no run before it has seen.
const SeedVariable = "AZPATTERNS_SEED"

// keptSeeds is the file, in the folder of a suite, with the seeds that every run repeats
// because they have failed once. A line is the full name of a subtest and a seed; what
// follows is a comment.
const keptSeeds = "testdata/schedules.txt"

var onlySeed = flag.Uint64("schedule.seed", 0, "run only the schedule with this seed in each mode of each suite")

// Schedule is one random run of several processes that share an account, in virtual time.
// Its seed determines what the processes do and which faults they meet.
type Schedule struct {
	*rand.Rand
	Seed    uint64
	Account *storagetest.Account
	Inner   policy.Transporter // of the account, without faults
	Faults  Faults

	t     testing.TB
	alone bool
	late  sync.WaitGroup
	mu    sync.Mutex
	errs  []error
}

// Faults are the probabilities of the faults of each request, and their longest times.
type Faults struct {
	Lose, Late, Twice, Fail, Die, Pause float64
	Deny                                float64 // DrawFaults leaves it 0

	Latency, Lateness, PauseTime time.Duration
}

// DrawFaults draws the faults of a schedule. A late request arrives less than lateness after
// its sender has received the error, at most 14 minutes: the service refuses older requests.
func (s *Schedule) DrawFaults(lateness time.Duration) {
	some := func(p ...float64) float64 { return p[s.IntN(len(p))] }
	s.Faults = Faults{
		Lose: some(0, 0.03, 0.1, 0.2), Late: some(0, 0.05, 0.1, 0.2), Twice: some(0, 0, 0.05), Fail: some(0, 0, 0.05),
		Die: some(0, 0.01, 0.04), Pause: some(0, 0, 0.01, 0.03),
		Latency:  time.Duration(some(0, 0, 4, 20)) * time.Second,
		Lateness: min(lateness, time.Duration(some(30, 300, 800))*time.Second), PauseTime: 5 * time.Hour,
	}
}

// Process starts the process with this number. The seed and the number determine its faults.
func (s *Schedule) Process(number int) *Process {
	d := &decider{Faults: s.Faults, seed: s.Seed, process: uint64(number), count: map[string]uint64{}}
	p := &Process{Inner: s.Inner, Decide: d.decide, Late: &s.late}
	if s.alone {
		p.Log = func(text string) { s.Log("process %d: %s", number, text) }
	}
	return p
}

// Reliable starts a process without faults.
func (s *Schedule) Reliable() *Process { return &Process{Inner: s.Inner} }

// WaitLate waits until every late request has arrived.
func (s *Schedule) WaitLate() { s.late.Wait() }

// Log prints what a schedule does, if it is run alone.
func (s *Schedule) Log(format string, args ...any) {
	if s.alone {
		s.t.Logf("%s "+format, append([]any{time.Now().UTC().Format("02 15:04:05.000")}, args...)...)
	}
}

// Failf records a violation.
func (s *Schedule) Failf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, fmt.Errorf(format, args...))
}

// decider draws the fates of the requests of a process.
type decider struct {
	Faults
	seed, process uint64

	mu    sync.Mutex
	count map[string]uint64
}

// decide draws the fate from the seed, the process, the request, and the number of such
// requests before it, so that the order of concurrent requests does not matter. Requests of
// one schedule arrive at different times: in different processes at a different part of a
// second. Pauses before retries, which are random and short, therefore do not matter either.
func (d *decider) decide(method, path string) Fate {
	path, _, _ = strings.Cut(path, "_outbox_") // the id of the operation is random
	d.mu.Lock()
	d.count[method+path]++
	nth := d.count[method+path]
	d.mu.Unlock()
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, method, path, nth)
	chance := rand.New(rand.NewPCG(d.seed+d.process<<32, h.Sum64()))
	hit := func(p float64) bool { return chance.Float64() < p }
	upTo := func(longest time.Duration) time.Duration {
		return time.Duration(chance.Int64N(int64(longest/time.Second)+1)) * time.Second
	}

	now := time.Now()
	part := time.Duration(d.process%40)*10*time.Millisecond + time.Duration(h.Sum64()%9_000)*time.Microsecond
	f := Fate{Before: now.Truncate(time.Second).Add(time.Second+part).Sub(now) + upTo(d.Latency), After: upTo(d.Latency), Dies: hit(d.Die)}
	switch {
	case hit(d.Late):
		f.What, f.Late = ArrivesLate, upTo(d.Lateness)+time.Second/2
	case hit(d.Lose) || f.Dies && hit(0.5):
		f.What = RequestLost
	case hit(d.Lose):
		f.What = ReplyLost
	case hit(d.Twice):
		f.What = Twice
	case hit(d.Fail):
		f.What = []Delivery{Busy, Failed}[chance.IntN(2)]
	case d.Deny > 0 && hit(d.Deny):
		f.What = Denied
	}
	if hit(d.Pause) {
		f.After += upTo([]time.Duration{3 * time.Minute, d.PauseTime}[chance.IntN(2)])
	}
	return f
}

// Schedules runs random schedules of run in several modes, each in virtual time on an account
// of its own: those whose seeds were kept, and number new ones. run returns after all its
// goroutines, and reports violations by Failf. The test fails with the seeds of
// schedules that had violations, and if more than a hundredth reported [ErrUndecided]; the flag -schedule.seed repeats one.
func Schedules(t *testing.T, modes []string, number int, run func(ctx context.Context, mode string, s *Schedule)) {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv(SchedulesVariable)); err == nil {
		number = n
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			seeds, err := seedsOf(t.Name(), number)
			if err != nil {
				t.Fatal(err)
			}
			bad, undecided := 0, 0
			var tried atomic.Int64
			failIfHung(t, func() int { return int(tried.Load()) })
			for _, seed := range seeds {
				tried.Add(1)
				errs := one(t, seed, len(seeds) == 1, mode, run)
				if len(errs) == 0 {
					continue
				}
				if len(errs) == 1 && errors.Is(errs[0], ErrUndecided) {
					undecided++
					t.Logf("-schedule.seed=%d: undecided", seed)
					continue
				}
				if bad++; bad <= 20 {
					t.Errorf("-schedule.seed=%d: %v", seed, errs[0])
				}
			}
			if undecided > max(2, len(seeds)/100) {
				t.Errorf("%d of %d schedules are undecided", undecided, len(seeds))
			}
			t.Logf("%d schedules with %s=%d, %d with violations, %d undecided", len(seeds), SeedVariable, runSeed(), bad, undecided)
		})
	}
}

// runSeed is the number from which this process derives its seeds.
var runSeed = sync.OnceValue(func() uint64 {
	if n, err := strconv.ParseUint(os.Getenv(SeedVariable), 10, 64); err == nil {
		return n
	}
	return rand.Uint64()
})

// seedsOf returns the seeds of the subtest with this name: the kept ones, and number that
// follow from runSeed.
func seedsOf(name string, number int) ([]uint64, error) {
	if *onlySeed != 0 {
		return []uint64{*onlySeed}, nil
	}
	text, err := os.ReadFile(keptSeeds)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	seeds, err := parseSeeds(string(text), name)
	if err != nil {
		return nil, err
	}
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, name, " ", runSeed())
	first := h.Sum64() >> 16 // short enough to type
	for i := range uint64(number) {
		seeds = append(seeds, first+i)
	}
	return seeds, nil
}

// parseSeeds returns the seeds that text, the content of keptSeeds, has for the subtest with this name.
func parseSeeds(text, name string) (seeds []uint64, err error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 2 {
			return nil, fmt.Errorf("%s: want the name of a subtest and a seed in each line", keptSeeds)
		}
		seed, err := strconv.ParseUint(fields[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", keptSeeds, err)
		}
		if fields[0] == name {
			seeds = append(seeds, seed)
		}
	}
	return seeds, nil
}

// one runs one schedule.
func one(t *testing.T, seed uint64, alone bool, mode string, run func(context.Context, string, *Schedule)) []error {
	account := storagetest.Start(nil)
	WithoutTargets(account) // DrawFaults refuses requests
	s := &Schedule{
		Rand: rand.New(rand.NewPCG(seed, 0)), Seed: seed, t: t, alone: alone, Account: account, Inner: Inner(account),
	}
	synctest.Test(t, func(t *testing.T) {
		run(t.Context(), mode, s)
		s.late.Wait()
	})
	return s.errs
}
