package logtail_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/logtail"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestAppendReturnsWhatTailReads(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, buckets := range []int{0, 4} {
			log := newLog(t, b.Table(t), &logtail.Options[claim]{Time: claimTime, Buckets: buckets})
			b.ResetRequests()
			at := time.Date(2026, 1, 1, 1, 0, 0, 123_456_789, time.FixedZone("", 3600))
			e := appended(t, log, "000123", claim{"taxi", 12, at})
			b.WantRequests(t, map[string]int{"Table.Insert": 1})
			if want := day(1).Add(123_456_700); !e.Time.Equal(want) || e.Time.Location() != time.UTC {
				t.Errorf("time %v, want %v", e.Time, want)
			}
			if !strings.HasPrefix(e.Key.Row, "251635075199876") || len(e.Key.Row) != 49 {
				t.Errorf("row key %q", e.Key.Row)
			}
			if buckets == 0 && e.Key.Partition != "000123" {
				t.Errorf("partition key %q", e.Key.Partition)
			}
			if buckets > 0 && !strings.HasSuffix(e.Key.Partition, "_000123") {
				t.Errorf("partition key %q", e.Key.Partition)
			}
			read := assert.All(t, log.Tail(t.Context(), "000123", 5))
			assert.Equal(assert.Now(t), len(read), 1, "read", "entries")
			r := read[0]
			if r.Key != e.Key || r.ETag != e.ETag || !r.Time.Equal(e.Time) || r.Value.What != "taxi" || r.Value.Amount != 12 {
				t.Errorf("read %+v\nappended %+v", r, e)
			}
			if r.Timestamp.IsZero() {
				t.Error("no timestamp of the service")
			}
		}
	})
}

func TestAppendAllStoresEntriesInOrderWithOneRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, buckets := range []int{1, 4} {
			log := newLog(t, b.Table(t), &logtail.Options[claim]{Buckets: buckets})
			var vs []claim
			for i := range 100 {
				vs = append(vs, claim{What: fmt.Sprint(i)})
			}
			b.ResetRequests()
			es, err := log.AppendAll(t.Context(), "s", vs)
			assert.NoError(t, err)
			b.WantRequests(t, map[string]int{"Table.Batch": 1})
			read := assert.All(t, log.Tail(t.Context(), "s", 1000))
			assert.Equal(assert.Now(t), len(read), 100)
			assert.Equal(assert.Now(t), len(es), 100)
			for i, r := range read {
				e := es[99-i]
				if r.Value.What != fmt.Sprint(99-i) || r.Key != e.Key || r.ETag != e.ETag {
					t.Fatalf("position %d: %v under %v, want %v under %v", i, r.Value, r.Key, e.Value, e.Key)
				}
			}
			_, err = log.AppendAll(t.Context(), "s", append(vs, claim{}))
			var tooMany *patterns.BatchError
			if !errors.Is(err, patterns.ErrTooLarge) || !errors.As(err, &tooMany) || tooMany.Index != 100 {
				t.Errorf("101 entries: %v", err)
			}
			assert.Equal(t, len(assert.Must(log.AppendAll(t.Context(), "s", nil))(t)), 0)
		}
	})
}

func TestAppendStoresOneEntryWhateverIsLost(t *testing.T) {
	appendOne := func(ctx context.Context, log *logtail.Log[claim]) (logtail.Entry[claim], error) {
		return log.Append(ctx, "s", &claim{What: "taxi", Amount: 12.5})
	}
	appendAll := func(ctx context.Context, log *logtail.Log[claim]) (logtail.Entry[claim], error) {
		es, err := log.AppendAll(ctx, "s", []claim{{What: "taxi", Amount: 12.5}})
		if len(es) == 0 {
			return logtail.Entry[claim]{}, err
		}
		return es[0], err
	}
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, c := range []struct {
			name string
			op   string
			run  func(context.Context, *logtail.Log[claim]) (logtail.Entry[claim], error)
		}{{"append", "Table.Insert", appendOne}, {"append all", "Table.Batch", appendAll}} {
			for _, f := range []struct {
				name        string
				rule        storagetest.Rule
				sent, reads int
			}{
				{"reply lost", storagetest.On(c.op).Nth(1).LoseReply(), 2, 2},
				{"two replies lost", storagetest.On(c.op).Nth(1).Times(2).LoseReply(), 3, 2},
				{"every reply lost", storagetest.On(c.op).LoseReply(), 4, 2},
				{"request lost", storagetest.On(c.op).Nth(1).LoseRequest(), 2, 0},
				{"server busy", storagetest.On(c.op).Nth(1).Status(503, "ServerBusy"), 2, 0},
				{"carried out twice", storagetest.On(c.op).Nth(1).Twice(), 1, 1},
			} {
				t.Run(c.name+"/"+f.name, func(t *testing.T) {
					log := newLog(t, b.Table(t), nil)
					b.Fault(f.rule)
					b.ResetRequests()
					e, err := c.run(t.Context(), log)
					b.ClearFaults()
					if f.name == "carried out twice" && !b.Accelerated {
						f.reads++ // the first reply is not known to be that of the first delivery
					}
					b.WantRequests(t, map[string]int{c.op: f.sent, "Table.Get": f.reads})
					assert.NoError(t, err)
					read := assert.All(t, log.Tail(t.Context(), "s", 10))
					wantOrder(t, read, "taxi")
					assert.Equal(t, read[0].ETag, e.ETag, "the returned entry does not have the ETag of the row")
				})
			}
		}
	})
}

func TestRetryAfterAnUnknownOutcomeStoresEachEntryOnce(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, f := range []struct {
			name string
			rule storagetest.Rule
		}{
			{"applied", storagetest.On("Table.*").Nth(1).Times(storagetest.Forever).LoseReply()},
			{"not applied", storagetest.On("Table.*").Nth(1).Times(storagetest.Forever).LoseRequest()},
		} {
			for _, n := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s/%d", f.name, n), func(t *testing.T) {
					log := newLog(t, b.Table(t), nil)
					vs := []claim{{What: "a"}, {What: "b"}, {What: "c"}}[:n]
					want := []string{"c", "b", "a"}[3-n:]
					b.Fault(f.rule)
					var es []logtail.Entry[claim]
					var err error
					if n == 1 {
						es = make([]logtail.Entry[claim], 1)
						es[0], err = log.Append(t.Context(), "s", &vs[0])
					} else {
						es, err = log.AppendAll(t.Context(), "s", vs)
					}
					b.ClearFaults()
					assert.WantError(assert.Now(t), err, patterns.ErrOutcomeUnknown, "want an unknown outcome")
					assert.Equal(assert.Now(t), len(es), n, "entries to retry")
					for range 2 {
						assert.NoError(t, log.Retry(t.Context(), es...))
						wantOrder(t, assert.All(t, log.Tail(t.Context(), "s", 10)), want...)
					}
				})
			}
		}
	})
}

func TestRetryMakesNoUnnecessaryRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		log := newLog(t, b.Table(t), nil)
		es := assert.Must(log.AppendAll(t.Context(), "s", make([]claim, 3)))(t)
		for _, c := range []struct {
			entries []logtail.Entry[claim]
			want    map[string]int
		}{
			{nil, nil},
			{es[:1], map[string]int{"Table.Insert": 1}},
			{es, map[string]int{"Table.Batch": 1, "Table.Insert": 3}},
		} {
			b.ResetRequests()
			assert.NoError(t, log.Retry(t.Context(), c.entries...))
			b.WantRequests(t, c.want)
		}
	})
}

func TestInvalidArgumentsAreRefusedWithoutARequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		log := newLog(t, b.Table(t), &logtail.Options[claim]{Time: claimTime})
		var tooLong *patterns.PropertyError
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		try := func(ctx context.Context, stream string, v *claim) error {
			_, err := log.Append(ctx, stream, v)
			return err
		}
		for _, c := range []struct {
			name string
			err  error
			want error
		}{
			{"nil value", try(ctx, "s", nil), patterns.ErrNil},
			{"stream with a slash", try(ctx, "a/b", &claim{}), patterns.ErrBadKey},
			{"stream of invalid UTF-8", try(ctx, "\xff", &claim{}), patterns.ErrBadKey},
			{"stream too long", try(ctx, strings.Repeat("x", 513), &claim{}), patterns.ErrBadKey},
			{"year 10000", try(ctx, "s", &claim{At: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}), patterns.ErrBadKey},
			{"year 0", try(ctx, "s", &claim{At: time.Date(0, 12, 31, 23, 59, 59, 0, time.UTC)}), patterns.ErrBadKey},
			{"value too long", try(ctx, "s", &claim{What: strings.Repeat("x", 40_000)}), patterns.ErrTooLarge},
			{"canceled context", try(canceled, "s", &claim{}), context.Canceled},
			{"retry of an entry without a key", log.Retry(ctx, logtail.Entry[claim]{}), patterns.ErrBadKey},
			{"tail of a bad stream", failure(t, log.Tail(ctx, "a/b", 1)), patterns.ErrBadKey},
			{"range of a bad stream", failure(t, log.Range(ctx, "a#b", day(1), day(2))), patterns.ErrBadKey},
			{"range backwards", failure(t, log.Range(ctx, "s", day(2), day(1))), patterns.ErrBadKey},
			{"range from year 0", failure(t, log.Range(ctx, "s", time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), day(1))), patterns.ErrBadKey},
			{"since year 10000", failure(t, log.Since(ctx, "s", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))), patterns.ErrBadKey},
			{"tail with a canceled context", failure(t, log.Tail(canceled, "s", 1)), context.Canceled},
		} {
			assert.WantError(t, c.err, c.want, c.name)
		}
		if err := try(ctx, "s", &claim{What: strings.Repeat("x", 40_000)}); !errors.As(err, &tooLong) || tooLong.Property != "What" {
			t.Errorf("value too long: %v does not name the property", err)
		}
		assert.Equal(t, len(assert.All(t, log.Tail(ctx, "s", 0)))+len(assert.All(t, log.Tail(ctx, "s", -1))), 0, "a tail of no entries yielded")
		b.WantRequests(t, nil)
	})
}

func TestNewRefusesInvalidArguments(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		assert.WantError(t, assert.ErrorOf(logtail.New[claim](nil, nil)), patterns.ErrNil, "no client")
		assert.Failed(t, assert.ErrorOf(logtail.New[struct{ C chan int }](client, nil)), "a property of a channel type was accepted")
		assert.Failed(t, assert.ErrorOf(logtail.New[int](client, nil)), "entries of type int were accepted")
		for _, n := range []int{-1, 10_001} {
			assert.WantError(t, assert.ErrorOf(logtail.New(client, &logtail.Options[claim]{Buckets: n})), patterns.ErrBadKey, n, "buckets")
		}
		log := newLog(t, client, nil)
		assert.Equal(t, log.Client(), client)
		assert.Equal(t, log.Table().Client(), client)
	})
}

func TestAnUnknownOutcomeStaysUnknownUntilRetrySucceeds(t *testing.T) {
	lost := storagetest.On("Table.*").Nth(1).Times(storagetest.Forever).LoseReply()
	busy := storagetest.On("Table.*").Nth(1).Times(storagetest.Forever).Status(503, "ServerBusy")
	forbidden := storagetest.On("Table.*").Nth(1).Times(storagetest.Forever).Status(403, "AuthorizationFailure")
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for _, n := range []int{1, 3} {
			log := newLog(t, b.Table(t), nil)
			vs := make([]claim, n)
			appendAll := func(rule storagetest.Rule) ([]logtail.Entry[claim], error) {
				b.Fault(rule)
				defer b.ClearFaults()
				if n > 1 {
					return log.AppendAll(t.Context(), "s", vs)
				}
				e, err := log.Append(t.Context(), "s", &vs[0])
				return []logtail.Entry[claim]{e}, err
			}
			retry := func(es []logtail.Entry[claim], rule storagetest.Rule) error {
				b.Fault(rule)
				defer b.ClearFaults()
				return log.Retry(t.Context(), slices.Clone(es)...)
			}

			es, err := appendAll(lost)
			assert.WantError(t, err, patterns.ErrOutcomeUnknown)
			for range 2 {
				err := retry(es, busy)
				assert.WantError(t, err, patterns.ErrOutcomeUnknown)
				assert.WantError(t, err, patterns.ErrThrottled)
			}
			assert.NoError(t, log.Retry(t.Context(), es...))

			es, err = appendAll(forbidden)
			for range 2 {
				if err == nil || errors.Is(err, patterns.ErrOutcomeUnknown) {
					t.Errorf("after nothing but refusals: %v", err)
				}
				err = retry(es, forbidden)
			}
			assert.WantError(t, retry(es, lost), patterns.ErrOutcomeUnknown)
			assert.WantError(t, retry(es, busy), patterns.ErrOutcomeUnknown)
			assert.NoError(t, log.Retry(t.Context(), es...))
			assert.Equal(t, len(assert.All(t, log.Tail(t.Context(), "s", 10))), 2*n, "entries")
		}
	})
}

// The service reports the row of the entry as existing, and cannot be asked for its ETag.
func TestAnEntryThatIsStoredIsNotReportedAsRefused(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		log := newLog(t, b.Table(t), nil)
		b.Fault(storagetest.On("Table.Insert").Nth(1).Twice(), storagetest.On("Table.Get").LoseRequest())
		_, err := log.Append(t.Context(), "s", &claim{What: "taxi"})
		assert.WantError(t, err, patterns.ErrOutcomeUnknown)
	})
}

// A refused AppendAll is repeated and stored, but the caller cannot learn it, because from
// then on the service refuses the requests that Retry makes.
func TestRetryDoesNotReportAnEntryAsRefusedThatItHasStored(t *testing.T) {
	forbidden := func(op string) storagetest.Rule {
		return storagetest.On(op).Nth(1).Times(storagetest.Forever).Status(403, "AuthorizationFailure")
	}
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for _, c := range []struct {
			name  string
			rules []storagetest.Rule // during the first Retry
			want  error
		}{
			{"stored without a reply", []storagetest.Rule{
				storagetest.On("Table.Batch").Nth(1).LoseReply(), forbidden("Table.Get"), forbidden("Table.Insert"),
			}, patterns.ErrOutcomeUnknown},
			{"stored", nil, nil},
		} {
			t.Run(c.name, func(t *testing.T) {
				log := newLog(t, b.Table(t), nil)
				b.Fault(forbidden("Table.*"))
				es, err := log.AppendAll(t.Context(), "s", []claim{{What: "a"}, {What: "b"}})
				b.ClearFaults()
				if err == nil || errors.Is(err, patterns.ErrOutcomeUnknown) {
					t.Fatalf("got %v, want a refusal", err)
				}
				b.Fault(c.rules...)
				assert.WantError(t, log.Retry(t.Context(), es...), c.want)
				b.ClearFaults()
				wantOrder(t, assert.All(t, log.Tail(t.Context(), "s", 10)), "b", "a")
				b.Fault(forbidden("Table.*"))
				defer b.ClearFaults()
				assert.WantError(t, log.Retry(t.Context(), es...), patterns.ErrOutcomeUnknown)
				for _, e := range es {
					assert.WantError(t, log.Retry(t.Context(), e), patterns.ErrOutcomeUnknown)
				}
			})
		}
	})
}

// Retry sends the entries one by one, because the last one is stored. The request for the
// second is lost, and then the service refuses the first, whose error Retry returns.
func TestRetryRemembersTheUnknownOutcomeOfALaterEntry(t *testing.T) {
	forbidden := storagetest.On("Table.*").Status(403, "AuthorizationFailure")
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		log := newLog(t, b.Table(t), nil)
		b.Fault(forbidden)
		es, err := log.AppendAll(t.Context(), "s", make([]claim, 3))
		b.ClearFaults()
		if err == nil || errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Fatalf("got %v, want a refusal", err)
		}
		assert.NoError(t, log.Retry(t.Context(), es[2]))

		isFirst := func(r storagetest.Request) bool { return r.Rows[0].Row == es[0].Key.Row }
		isSecond := func(r storagetest.Request) bool { return r.Rows[0].Row == es[1].Key.Row }
		b.Fault(
			storagetest.On("Table.Insert").Where(isFirst).Delay(10*time.Minute).Status(403, "AuthorizationFailure"),
			storagetest.On("Table.Insert").Where(isSecond).LoseRequest(),
		)
		assert.WantError(t, log.Retry(t.Context(), es...), patterns.ErrOutcomeUnknown)
		b.ClearFaults()
		b.Fault(forbidden)
		assert.WantError(t, log.Retry(t.Context(), es[1]), patterns.ErrOutcomeUnknown)
	})
}
