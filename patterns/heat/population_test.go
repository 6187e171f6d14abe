package heat_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// families are the loads: the first is the main population, the others are held out.
var families = []struct {
	name string
	load func(w *world, rng *rand.Rand)
}{{"main", mainLoad}, {"telemetry", telemetry}, {"shop", shop}}

// figure is what a rule did in a family: of found findings right were about something sick, and of ill cases it found seen.
type figure struct{ found, right, ill, seen int }

func (f figure) String() string {
	return fmt.Sprintf("precision %s (%d of %d), recall %s (%d of %d)", percent(f.right, f.found), f.right, f.found, percent(f.seen, f.ill), f.seen, f.ill)
}

func percent(a, b int) string {
	if b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(a)/float64(b))
}

// result is what was found in one load, and what is true.
type result struct {
	verdicts map[string]verdict
	findings []heat.Finding
}

func (r result) sick() bool {
	for _, v := range r.verdicts {
		if v.sick {
			return true
		}
	}
	return false
}

// run makes the load of a seed.
func run(t *testing.T, load func(*world, *rand.Rand), seed uint64) (r result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(seed, 0))
		w := newWorld(t, rng)
		w.end = time.Now().Add(time.Duration(120+rng.IntN(120)) * time.Second)
		load(w, rng)
		w.start()
		w.workers.Wait()
		r = result{w.judge(), heat.Merge(w.snapshots()...).Findings()}
	})
	return r
}

// name returns the resource of a verdict.
func name(f heat.Finding) string { return strings.TrimPrefix(f.Resource, "queue ") }

// population runs loads until a family has n sick and n healthy ones.
func population(t *testing.T, family int, n int, seeds *rand.Rand) map[heat.Kind]*figure {
	t.Helper()
	var mu sync.Mutex
	var sick, healthy, caught, clean int
	figures, none := map[heat.Kind]*figure{}, 0
	get := func(k heat.Kind) *figure {
		if figures[k] == nil {
			figures[k] = &figure{}
		}
		return figures[k]
	}
	verbose := os.Getenv("AZPATTERNS_LOADS") == "verbose"
	t.Run(families[family].name, func(t *testing.T) {
		var workers sync.WaitGroup
		for range 4 {
			workers.Add(1)
			go func() {
				defer workers.Done()
				for {
					mu.Lock()
					seed, done := seeds.Uint64(), sick >= n && healthy >= n
					mu.Unlock()
					if done {
						return
					}
					r := run(t, families[family].load, seed)
					mu.Lock()
					if r.sick() {
						sick++
						if len(r.findings) > 0 {
							caught++
						}
					} else {
						healthy++
						if len(r.findings) == 0 {
							clean++
						}
					}
					for _, f := range r.findings {
						g := get(f.Kind)
						g.found++
						if r.verdicts[name(f)].sick {
							g.right++
						} else if verbose {
							t.Logf("seed %d: false: %v", seed, f)
						}
					}
					for res, v := range r.verdicts {
						if v.sick && len(v.rules) == 0 {
							none++
						}
						for _, k := range v.rules {
							g := get(k)
							g.ill++
							if slices.ContainsFunc(r.findings, func(f heat.Finding) bool { return f.Kind == k && name(f) == res }) {
								g.seen++
							} else if verbose {
								t.Logf("seed %d: missed: %s: %s, of %v", seed, res, k, r.findings)
							}
						}
					}
					mu.Unlock()
				}
			}()
		}
		workers.Wait()
		t.Logf("%d sick loads, %d with a finding; %d healthy loads, %d without; tables and queues that are sick in a way that no rule is about: %d",
			sick, caught, healthy, clean, none)
		for _, k := range slices.Sorted(maps.Keys(figures)) {
			t.Logf("%-36s %v", k, *figures[k])
		}
	})
	return figures
}

// stated are the lower ones of the figures of the main population and of both others, in percent, as in the documentation of Kind.
var stated = map[heat.Kind][2]int{
	heat.AppendOnly:     {96, 100},
	heat.PrependOnly:    {100, 100},
	heat.HotPartition:   {100, 91},
	heat.HotRow:         {100, 100},
	heat.TableScans:     {88, 99},
	heat.PartitionScans: {100, 100},
	heat.Batchable:      {97, 93},
	heat.LargeRetries:   {100, 100},
	heat.EmptyPolls:     {100, 92},
	heat.Churn:          {100, 99},
}

// A sample of 6 sick and 6 healthy loads of each family is for a change of a rule that breaks it. With AZPATTERNS_POPULATION=1000 there are that
// many of each in the main population. AZPATTERNS_SEED repeats the loads; AZPATTERNS_LOADS=verbose prints what is wrong or missed.
func TestFindingsOfPopulations(t *testing.T) {
	n := 6
	if v := os.Getenv("AZPATTERNS_POPULATION"); v != "" {
		n, _ = strconv.Atoi(v)
	}
	seed := rand.Uint64()
	if v := os.Getenv("AZPATTERNS_SEED"); v != "" {
		seed, _ = strconv.ParseUint(v, 10, 64)
	}
	t.Logf("AZPATTERNS_SEED=%d", seed)
	for i := range families {
		held := n
		if i > 0 && n > 100 {
			held = n / 10
		}
		for kind, f := range population(t, i, held, rand.New(rand.NewPCG(seed, uint64(i)))) {
			atLeast(t, families[i].name, kind, "precision", f.right, f.found, stated[kind][0])
			atLeast(t, families[i].name, kind, "recall", f.seen, f.ill, stated[kind][1])
		}
	}
}

// atLeast fails if a of b is less than the stated share by more than four standard errors.
func atLeast(t *testing.T, family string, kind heat.Kind, figure string, a, b, percent int) {
	t.Helper()
	p := float64(percent) / 100
	if float64(a) < float64(b)*p-4*math.Sqrt(float64(b)*max(p*(1-p), 0.02))-1 {
		t.Errorf("%s: %s: %s %d of %d, stated are %d %%", family, kind, figure, a, b, percent)
	}
}

func TestTheStatedFiguresAreInTheDocumentation(t *testing.T) {
	source, err := os.ReadFile("findings.go")
	assert.NoError(t, err)
	for kind, f := range stated {
		text := fmt.Sprintf("= %q // precision %d %%, recall %d %%", kind, f[0], f[1])
		if !strings.Contains(strings.Join(strings.Fields(string(source)), " "), text) {
			t.Errorf("no %s", text)
		}
	}
}

// The writers take keys of their time: a partition for each second, or for each entity.
func TestGrowingKeysOf64WritersAreFound(t *testing.T) {
	for _, kind := range []heat.Kind{heat.AppendOnly, heat.PrependOnly} {
		for _, bucket := range []bool{true, false} {
			if !bucket && testing.Short() {
				continue // 250,000 requests
			}
			r := run(t, func(w *world, _ *rand.Rand) {
				w.latency, w.pauses, w.keep = min(w.latency, 5*time.Millisecond), 0, 100
				w.procs = slices.DeleteFunc(w.procs, func(p *process) bool { return p.meter == nil })
				w.end = time.Now().Add(100 * time.Second)
				form := map[heat.Kind]int{heat.AppendOnly: 1, heat.PrependOnly: 2}[kind]
				if bucket {
					w.loop(64, 125, func(p *process, _ *rand.Rand, worker, i int) {
						w.need("log", 1)
						rks := lines(20)
						for j := range rks {
							rks[j] = fmt.Sprintf("%02d-%d-%s", worker, i, rks[j])
						}
						p.batch("log", growing(form, worker)[:10], rks, false)
					})
					return
				}
				w.loop(64, 2500, func(p *process, _ *rand.Rand, worker, _ int) {
					w.need("log", 1)
					p.insert("log", growing(form, worker), "row")
				})
			}, rand.Uint64())
			if !r.verdicts["log"].sick || !slices.ContainsFunc(r.findings, func(f heat.Finding) bool { return f.Kind == kind }) {
				t.Errorf("%s, partitions of a second %v: %v, found %v", kind, bucket, r.verdicts, r.findings)
			}
		}
	}
}

// The account of a load and storagetest at the documented targets refuse the same of random requests.
func TestTheAccountOfALoadRefusesAsStoragetest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seed := rand.Uint64()
		rng := rand.New(rand.NewPCG(seed, 0))
		account := storagetest.Start(nil)
		service := account.Tables()
		table := service.NewClient("table")
		assert.Must(service.CreateTable(t.Context(), "table", nil))(t)
		account.Throttle(nil)
		w := &world{used: map[string]int{}}
		refused := 0
		for i := range 600 {
			pk := "p" + strconv.Itoa(rng.IntN(2))
			var batch []aztables.TransactionAction
			for j := range 1 + rng.IntN(100) {
				batch = append(batch, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: []byte(entity(pk, fmt.Sprint(i, "-", j)))})
			}
			_, err := table.SubmitTransaction(policy.WithRetryOptions(t.Context(), policy.RetryOptions{MaxRetries: -1}), batch, nil)
			was := err != nil
			if e := (*azcore.ResponseError)(nil); was && (!errors.As(err, &e) || e.StatusCode != http.StatusServiceUnavailable) {
				t.Fatal(err)
			}
			if admitted := w.admit(&call{class: "batch", resource: "table", pk: pk, inserted: len(batch)}); admitted == was {
				t.Fatalf("seed %d: request %d: admitted %v, by storagetest %v", seed, i, admitted, !was)
			}
			if was {
				refused++
			}
			time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
		}
		if refused < 10 {
			t.Errorf("refused %d", refused)
		}
	})
}
