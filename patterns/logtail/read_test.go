package logtail_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/logtail"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// store inserts an entry of time at under a key of the documented form into the given bucket.
// Bucket -1 means that the stream is one partition.
func store(t testing.TB, log *logtail.Log[claim], bucket int, stream string, at time.Time, what string) {
	t.Helper()
	ticks := assert.Must(keys.InvertedTicks(at))(t)
	key := keys.Key{Partition: stream, Row: ticks + "_0123456789abcdef_ffffffffffff"}
	if bucket >= 0 {
		key.Partition = fmt.Sprintf("%02d_%s", bucket, stream)
	}
	assert.NoError(t, assert.ErrorOf(log.Table().Do(t.Context(), patterns.InsertOp(&claim{What: what}).At(key))))
}

func TestRangeIsExactTo100Nanoseconds(t *testing.T) {
	const tick = 100 * time.Nanosecond
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, buckets := range []int{1, 3} {
			log := newLog(t, b.Table(t), &logtail.Options[claim]{Time: claimTime, Buckets: buckets})
			for i := range 5 {
				appended(t, log, "s", claim{What: fmt.Sprint(i), At: day(1).Add(time.Duration(i) * tick)})
			}
			for _, c := range []struct {
				from, to time.Duration
				want     []string
			}{
				{tick, 3 * tick, []string{"2", "1"}},
				{2 * tick, 3 * tick, []string{"2"}},
				{2 * tick, 2 * tick, nil},
				{tick + 99, 3*tick + 99, []string{"2", "1"}}, // the ends are cut to ticks
				{-time.Hour, 0, nil},
				{-time.Hour, tick, []string{"0"}},
				{4 * tick, time.Hour, []string{"4"}},
				{5 * tick, time.Hour, nil},
				{-time.Hour, -tick, nil},
			} {
				got := assert.All(t, log.Range(t.Context(), "s", day(1).Add(c.from), day(1).Add(c.to)))
				assert.EqualSlices(t, whats(got), c.want, buckets, "buckets", c.from, "to", c.to)
			}
			wantOrder(t, assert.All(t, log.Since(t.Context(), "s", day(1).Add(3*tick))), "4", "3")
			wantOrder(t, assert.All(t, log.Range(t.Context(), "s", time.Time{}, day(1).Add(2*tick))), "1", "0")
			for range log.Range(t.Context(), "s", day(1).Add(5*tick), time.Time{}) {
				t.Error("an entry after the last")
			}
		}
	})
}

func TestRangeIncludesItsBeginningAndExcludesItsEnd(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		log := newLog(t, b.Table(t), &logtail.Options[claim]{Time: claimTime})
		times := ages()
		for i, at := range times {
			appended(t, log, "s", claim{What: fmt.Sprint(i), At: at})
		}
		last := times[len(times)-1]
		for i, from := range times {
			for k, to := range times[i:] {
				if got := assert.All(t, log.Range(t.Context(), "s", from, to)); to.IsZero() {
					assert.Equal(t, len(got), len(times), "everything", "entries")
				} else if len(got) != k || k > 0 && got[0].Value.What != fmt.Sprint(i+k-1) {
					t.Errorf("%v to %v: %v", from, to, whats(got))
				}
			}
		}
		wantOrder(t, assert.All(t, log.Since(t.Context(), "s", last.Add(99))), fmt.Sprint(len(times)-1))
	})
}

func TestStreamsDoNotMix(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		names := []string{"00012", "000123", "0001230", "000124", "O'Brien & Söhne 😀", " ", "a%2Fb", "~"}
		for _, buckets := range []int{1, 2} {
			log := newLog(t, b.Table(t), &logtail.Options[claim]{Buckets: buckets})
			for range 3 {
				for _, name := range names {
					appended(t, log, name, claim{What: name})
				}
			}
			for _, name := range names {
				wantOrder(t, assert.All(t, log.Tail(t.Context(), name, 10)), name, name, name)
			}
			assert.Equal(t, len(assert.All(t, log.Tail(t.Context(), "unknown", 10))), 0, "an unknown stream has", "entries")
		}
	})
}

// All of them are in one bucket.
func TestEntriesThatWereAppendedTogetherTakeOneMoreRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		const buckets, entries = 8, 100
		log := newLog(t, b.Table(t), &logtail.Options[claim]{Buckets: buckets})
		assert.Must(log.AppendAll(t.Context(), "s", make([]claim, entries)))(t)
		b.ResetRequests()
		assert.Equal(t, len(assert.All(t, log.Tail(t.Context(), "s", entries))), entries, "entries")
		b.WantRequestCount(t, buckets+1)
	})
}

// The model is a slice. Short, empty and cut pages must make no difference.
func TestReadsMatchAModel(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		streams := 0
		rapid.Check(t, func(rt *rapid.T) {
			b.ClearFaults()
			streams++
			stream := fmt.Sprint(streams)
			buckets := rapid.IntRange(1, 4).Draw(rt, "buckets")
			log := newLog(t, client, &logtail.Options[claim]{Time: claimTime, Buckets: buckets, Parallel: rapid.IntRange(1, 3).Draw(rt, "parallel")})
			offsets := rapid.SliceOfN(rapid.IntRange(0, 12), 0, 40).Draw(rt, "offsets")
			at := func(offset int) time.Time { return day(1).Add(time.Duration(offset) * 100) }
			var model []claim // the newest first; of the same time the latest append
			for i, o := range offsets {
				c := claim{What: fmt.Sprint(i), At: at(o)}
				appended(t, log, stream, c)
				model = slices.Insert(model, 0, c)
			}
			slices.SortStableFunc(model, func(a, b claim) int { return b.At.Compare(a.At) })
			within := func(from, to time.Time) (names []string) {
				for _, c := range model {
					if !c.At.Before(from) && c.At.Before(to) {
						names = append(names, c.What)
					}
				}
				return names
			}
			switch rapid.IntRange(0, 3).Draw(rt, "pages") {
			case 1:
				b.Fault(storagetest.On("Table.Query").ShortPage(rapid.IntRange(1, 3).Draw(rt, "short")))
			case 2:
				b.Fault(storagetest.On("Table.Query").EmptyPage())
			case 3:
				b.Fault(storagetest.On("Table.Query").CutPage(2))
			}
			check := func(what string, got []logtail.Entry[claim], want []string) {
				assert.EqualSlices(assert.Now(rt), whats(got), want, what)
			}
			n := rapid.IntRange(1, 45).Draw(rt, "n")
			everything := within(at(0), at(13))
			check("tail", assert.All(t, log.Tail(t.Context(), stream, n)), everything[:min(n, len(everything))])
			from := rapid.IntRange(0, 12).Draw(rt, "from")
			to := rapid.IntRange(from, 13).Draw(rt, "to")
			check("range", assert.All(t, log.Range(t.Context(), stream, at(from), at(to))), within(at(from), at(to)))
			check("since", assert.All(t, log.Since(t.Context(), stream, at(from))), within(at(from), at(13)))

			var paged []logtail.Entry[claim]
			for cursor := ""; ; {
				page := assert.Must(log.Page(t.Context(), stream, at(from), at(to), cursor, &patterns.QueryOptions{Limit: n}))(rt)
				if len(page.Entries) > n || page.Cursor != "" && len(page.Entries) != n {
					rt.Fatalf("a page of %d entries, want %d", len(page.Entries), n)
				}
				paged = append(paged, page.Entries...)
				if cursor = page.Cursor; cursor == "" {
					break
				}
			}
			check("pages", paged, within(at(from), at(to)))
		})
	})
}

func TestEmptyAndShortPagesHideNoEntry(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, buckets := range []int{1, 3} {
			log := newLog(t, b.Table(t), &logtail.Options[claim]{Time: claimTime, Buckets: buckets})
			var want []string
			for i := range 20 {
				appended(t, log, "s", claim{What: fmt.Sprint(i), At: day(1).Add(time.Duration(i))})
				want = slices.Insert(want, 0, fmt.Sprint(i))
			}
			b.Fault(storagetest.On("Table.Query").EmptyPage(), storagetest.On("Table.Query").ShortPage(2))
			wantOrder(t, assert.All(t, log.Tail(t.Context(), "s", 15)), want[:15]...)
			wantOrder(t, assert.All(t, log.Since(t.Context(), "s", day(1))), want...)
			b.ClearFaults()
		}
	})
}

func TestAnErrorEndsTheSequence(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		log := newLog(t, b.Table(t), nil)
		for range 5 {
			appended(t, log, "s", claim{})
		}
		b.Fault(storagetest.On("Table.Query").ShortPage(2), storagetest.On("Table.Query").Nth(2).Times(storagetest.Forever).Status(500, "InternalError"))
		defer b.ClearFaults()
		entries, failures := 0, 0
		for e, err := range log.Tail(t.Context(), "s", 5) {
			if err == nil {
				entries++
				continue
			}
			failures++
			var refused *patterns.Error
			if !errors.As(err, &refused) || refused.Status != 500 {
				t.Errorf("got %v", err)
			}
			assert.Equal(t, e.Key, keys.Key{}, "an entry with an error")
		}
		assert.Equal(t, entries, 2)
		assert.Equal(t, failures, 1)
	})
}

func TestASequenceCanBeUsedAgain(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		log := newLog(t, b.Table(t), nil)
		appended(t, log, "s", claim{What: "a"})
		tail := log.Tail(t.Context(), "s", 10)
		wantOrder(t, assert.All(t, tail), "a")
		appended(t, log, "s", claim{What: "b"})
		wantOrder(t, assert.All(t, tail), "b", "a")
	})
}

// Other rows may share the partition if their keys do not start with a digit. Rows in the
// guide's form, without a suffix, are entries.
func TestOtherRowsOfThePartitionAreIgnored(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		log := newLog(t, b.Table(t), nil)
		put := func(row string) {
			t.Helper()
			if _, err := log.Table().Do(t.Context(), patterns.InsertOp(&claim{What: row}).At(keys.Key{Partition: "s", Row: row})); err != nil {
				t.Fatal(err)
			}
		}
		put("")
		put("meta")
		put("~azp_outbox_1")
		put("2516350751999999999")
		es := assert.All(t, log.Tail(t.Context(), "s", 10))
		wantOrder(t, es, "2516350751999999999")
		if !es[0].Time.Equal(day(1)) {
			t.Errorf("time %v, want %v", es[0].Time, day(1))
		}
		put("1999-12-31")
		assert.WantError(t, failure(t, log.Tail(t.Context(), "s", 10)), patterns.ErrBadKey, "a row with an invalid time")
	})
}

// claimEntity has its keys as fields, as structs for aztables do.
type claimEntity struct {
	aztables.Entity
	What string
}

func TestEntriesMayHaveKeyFields(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		log := assert.Must(logtail.New[claimEntity](b.Table(t), nil))(t)
		e, err := log.Append(t.Context(), "s", &claimEntity{Entity: aztables.Entity{PartitionKey: "ignored", RowKey: "ignored"}, What: "taxi"})
		assert.NoError(t, err)
		for r, err := range log.Tail(t.Context(), "s", 1) {
			assert.NoError(t, err)
			if r.Value.PartitionKey != "s" || r.Value.RowKey != e.Key.Row || r.Value.What != "taxi" {
				t.Errorf("read %+v", r.Value)
			}
		}
	})
}

func TestAnEntryCanBeChangedAndDeletedThroughTheTable(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		log := newLog(t, b.Table(t), nil)
		e := appended(t, log, "s", claim{What: "taxi"})
		e.Value.What = "train"
		item := assert.Must(log.Table().Replace(t.Context(), e.Item))(t)
		wantOrder(t, assert.All(t, log.Tail(t.Context(), "s", 1)), "train")
		assert.NoError(t, log.Table().Delete(t.Context(), item.Key, item.ETag))
		wantOrder(t, assert.All(t, log.Tail(t.Context(), "s", 1)))
	})
}

func TestReadsFromCosmosDBAreRefused(t *testing.T) {
	acct := storagetest.New(t)
	cred := assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)
	for _, accelerated := range []bool{false, true} {
		opts := &aztables.ClientOptions{}
		opts.Transport = acct.Transport()
		if accelerated {
			patterns.Accelerate(&opts.ClientOptions)
		}
		service := assert.Must(aztables.NewServiceClientWithSharedKey("https://"+storagetest.AccountName+".table.cosmos.azure.com", cred, opts))(t)
		client := service.NewClient(harness.UniqueName())
		assert.NoError(t, assert.ErrorOf(client.CreateTable(t.Context(), nil)))
		log := newLog(t, client, nil)
		assert.WantError(t, failure(t, log.Tail(t.Context(), "s", 1)), patterns.ErrUnordered, "tail")
		assert.WantError(t, failure(t, log.Since(t.Context(), "s", day(1))), patterns.ErrUnordered, "since")
		assert.WantError(t, assert.ErrorOf(log.Page(t.Context(), "s", day(1), day(2), "", nil)), patterns.ErrUnordered, "page")
	}
}

func TestParallelBucketsAreReadConcurrently(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		b.Fault(storagetest.On("Table.Query").Delay(time.Second))
		for _, c := range []struct {
			parallel int
			want     time.Duration
		}{{0, time.Second}, {1, 8 * time.Second}, {4, 2 * time.Second}} {
			log := newLog(t, client, &logtail.Options[claim]{Buckets: 8, Parallel: c.parallel})
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				assert.All(t, log.Tail(t.Context(), "s", 10))
				assert.Equal(t, time.Since(start), c.want, "parallel", c.parallel, "took")
			})
		}
	})
}

func TestCreate(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		b.WantCreate(t, func(client *aztables.Client) func(context.Context) error {
			return newLog(t, client, nil).Create
		})
	})
}
