package dataseries_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/dataseries"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

var ken = dataseries.ID{Partition: "Sales", Series: "000123"}

func open[V dataseries.Value](t testing.TB, b *harness.Backend, ring dataseries.Ring) *dataseries.Series[V] {
	t.Helper()
	s := assert.Must(dataseries.New[V](b.Table(t), ring, nil))(t)
	return s
}

// today returns a time in an hour of the current day, and so of the current turn.
func today(hour int) time.Time {
	now := time.Now().UTC()
	return time.Date(now.Year(), now.Month(), now.Day(), hour, 30, 0, 0, time.UTC)
}

func TestASeriesIsOneRowAndOneRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s, ctx := open[int64](t, b, dataseries.HoursOfDay()), t.Context()
		b.ResetRequests()
		assert.NoError(t, s.Set(ctx, ken, today(23), 7))
		b.WantRequestCount(t, 1)
		assert.NoError(t, s.Add(ctx, ken, today(23), 5))
		b.WantRequestCount(t, 2)
		assert.NoError(t, s.Add(ctx, ken, today(9), 1))
		b.ResetRequests()
		assert.NoError(t, s.SetAll(ctx, ken, []dataseries.Point[int64]{{Time: today(1), Value: 1}, {Time: today(2), Value: 2}}))
		b.WantRequestCount(t, 1)
		points := assert.Must(s.Get(ctx, ken, today(0)))(t)
		b.WantRequestCount(t, 1)
		want := []dataseries.Point[int64]{{Time: today(1), Value: 1}, {Time: today(2), Value: 2}, {Time: today(9), Value: 1}, {Time: today(23), Value: 12}}
		assert.Equal(assert.Now(t), len(points), len(want), points)
		for i, p := range points {
			if p.Value != want[i].Value || !p.Time.Equal(want[i].Time.Truncate(time.Hour)) {
				t.Errorf("point %d is %v, want %v", i, p, want[i])
			}
		}
		none, err := s.Get(ctx, dataseries.ID{Partition: "Sales", Series: "nobody"}, today(0))
		if err != nil || len(none) != 0 {
			t.Errorf("a series without a row: %v, %v", none, err)
		}
	})
}

func TestValuesOfAnEarlierTurnAreNeverReturnedForALaterOne(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s, ctx := open[float64](t, b, dataseries.HoursOfDay()), t.Context()
		yesterday := today(8).AddDate(0, 0, -1)
		for h := range 24 {
			assert.NoError(t, s.Set(ctx, ken, yesterday.Add(time.Duration(h-8)*time.Hour), float64(h)))
		}
		b.ResetRequests()
		assert.NoError(t, s.Set(ctx, ken, yesterday, 80)) // of an earlier turn that no later value has overwritten
		b.WantRequestCount(t, 2)
		assert.NoError(t, s.Set(ctx, ken, today(8), 8.5))
		points, err := s.Get(ctx, ken, today(0))
		if err != nil || len(points) != 1 || points[0].Value != 8.5 {
			t.Errorf("today: %v, %v", points, err)
		}
		points, err = s.Get(ctx, ken, yesterday)
		if err != nil || len(points) != 23 {
			t.Errorf("yesterday: %v, %v", points, err)
		}
		last, err := s.Last(ctx, ken, today(8))
		if err != nil || len(last) != 16 || last[0].Value != 9 || last[15].Value != 8.5 {
			t.Errorf("the last 24 hours: %v, %v", last, err)
		}
		for what, err := range map[string]error{
			"set":     s.Set(ctx, ken, yesterday, 1),
			"add":     s.Add(ctx, ken, yesterday, 1),
			"set all": s.SetAll(ctx, ken, []dataseries.Point[float64]{{Time: yesterday}}),
		} {
			assert.WantError(t, err, dataseries.ErrLate, what, "of a slot with a later value")
		}
		if points, _ := s.Get(ctx, ken, today(0)); len(points) != 1 || points[0].Value != 8.5 {
			t.Errorf("a late value overwrote a later one: %v", points)
		}
	})
}

func TestOfTwoPointsInASlotTheLaterIsStored(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s, ctx := open[int64](t, b, dataseries.HoursOfDay()), t.Context()
		tomorrow, next := today(13).AddDate(0, 0, 1), today(13).AddDate(0, 0, 2) // one slot, two turns
		b.ResetRequests()
		err := s.SetAll(ctx, ken, []dataseries.Point[int64]{{Time: next, Value: 7}, {Time: tomorrow, Value: 8}})
		assert.WantError(t, err, dataseries.ErrLate, "the later turn is first")
		assert.Contains(t, err.Error(), "point 1")
		b.WantRequestCount(t, 0)
		assert.NoError(t, s.SetAll(ctx, ken, []dataseries.Point[int64]{{Time: tomorrow, Value: 8}, {Time: next, Value: 7}, {Time: next, Value: 9}}))
		b.WantRequestCount(t, 1)
		for day, want := range map[time.Time]int{tomorrow: 0, next: 1} {
			if points, err := s.Get(ctx, ken, day); err != nil || len(points) != want || want == 1 && points[0].Value != 9 {
				t.Errorf("%v: %v, %v", day, points, err)
			}
		}
	})
}

func TestALongRingNeedsSeveralRowsButOneRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s, ctx := open[int32](t, b, dataseries.DaysOfYear()), t.Context()
		year := time.Now().UTC().Year()
		var points []dataseries.Point[int32]
		for d := range 365 {
			points = append(points, dataseries.Point[int32]{Time: time.Date(year, 1, 1+d, 12, 0, 0, 0, time.UTC), Value: int32(d)})
		}
		b.ResetRequests()
		assert.NoError(t, s.SetAll(ctx, ken, points))
		b.WantRequestCount(t, 1)
		// Neighbours whose names have the same prefix.
		assert.NoError(t, s.Set(ctx, dataseries.ID{Partition: "Sales", Series: "0001230"}, points[0].Time, 1000))
		assert.NoError(t, s.Set(ctx, dataseries.ID{Partition: "Sales", Series: "000123_"}, points[1].Time, 1000))
		b.ResetRequests()
		got := assert.Must(s.Get(ctx, ken, points[0].Time))(t)
		b.WantRequestCount(t, 1)
		assert.Equal(assert.Now(t), len(got), 365, "points")
		for d, p := range got {
			if p.Value != int32(d) || p.Time.YearDay() != d+1 {
				t.Errorf("day %d is %v", d, p)
			}
		}
	})
}

func TestAdditionsAreExactUnderConflictsAndLostReplies(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s, ctx := open[int64](t, b, dataseries.HoursOfDay()), t.Context()
		defer b.ClearFaults()
		// One reply and one request in four are lost.
		b.Fault(storagetest.On("Table.Merge").Probability(0.25).LoseReply(), storagetest.On("Table.Insert").Probability(0.25).LoseReply(),
			storagetest.On("Table.Merge").Probability(0.25).LoseRequest())
		const writers, each = 4, 10
		var wg sync.WaitGroup
		errs := make(chan error, writers*each)
		for range writers {
			wg.Go(func() {
				for range each {
					errs <- s.Add(ctx, ken, today(9), 1)
				}
			})
		}
		wg.Wait()
		close(errs)
		done, unknown := int64(0), int64(0)
		for err := range errs {
			switch {
			case err == nil:
				done++
			case errors.Is(err, patterns.ErrOutcomeUnknown):
				unknown++
				t.Logf("outcome unknown: %v", err)
			case !errors.Is(err, patterns.ErrConflict):
				t.Fatalf("%+v", err)
			}
		}
		b.ClearFaults()
		points, err := s.Get(ctx, ken, today(9))
		if err != nil || len(points) != 1 {
			t.Fatalf("%v, %v", points, err)
		}
		if sum := points[0].Value; sum < done || sum > done+unknown {
			t.Errorf("sum is %d after %d additions and %d with unknown outcome", sum, done, unknown)
		}
		if unknown > 0 {
			t.Errorf("%d additions with unknown outcome although the row could be read", unknown)
		}
	})
}

func TestACrashNeverAddsTwice(t *testing.T) {
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
		s, err := dataseries.New[int64](acct.Tables().NewClient("Series"), dataseries.HoursOfDay(), nil)
		if err != nil {
			return err
		}
		if err := s.Create(ctx); err != nil {
			return err
		}
		acct.Arm()
		for range 3 {
			if err := s.Add(ctx, ken, today(9), 1); err != nil {
				return err
			}
		}
		return nil
	}, func(t *testing.T, acct *storagetest.Account) {
		s, _ := dataseries.New[int64](acct.Tables().NewClient("Series"), dataseries.HoursOfDay(), nil)
		points, err := s.Get(t.Context(), ken, today(9))
		if err != nil || len(points) > 1 || len(points) == 1 && points[0].Value > 3 {
			t.Errorf("got %v, %v", points, err)
		}
	})
}

func TestWritersOfDifferentSlotsDoNotConflict(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s, ctx := open[int32](t, b, dataseries.HoursOfDay()), t.Context()
		b.ResetRequests()
		var wg sync.WaitGroup
		for h := range 24 {
			wg.Go(func() {
				assert.Equal(t, s.Set(ctx, ken, today(h), int32(h)), nil)
			})
		}
		wg.Wait()
		b.WantRequestCount(t, 24)
		points, err := s.Get(ctx, ken, today(0))
		if err != nil || len(points) != 24 {
			t.Fatalf("%v, %v", points, err)
		}
	})
}

func TestAddingZeroToAnEmptySlotStoresAPoint(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s := open[int64](t, b, dataseries.HoursOfDay())
		assert.NoError(t, s.Add(t.Context(), ken, today(1), 0))
		points := assert.Must(s.Get(t.Context(), ken, today(0)))(t)
		if len(points) != 1 || points[0].Value != 0 || !points[0].Time.Equal(today(1).Truncate(time.Hour)) {
			t.Errorf("got %v", points)
		}
	})
}

func TestSeriesMatchAModel(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ring := assert.Must(dataseries.Steps(7, time.Minute))(t)
		s := open[int64](t, b, ring)
		now := time.Unix(time.Now().Unix()/420*420, 0).UTC() // the start of a turn
		run := 0
		rapid.Check(t, func(rt *rapid.T) {
			run++
			id := dataseries.ID{Partition: "p", Series: time.Duration(run).String()}
			type cell struct{ minute, value int64 }
			model := map[int64]cell{} // by slot
			for range rapid.IntRange(1, 20).Draw(rt, "steps") {
				minute := rapid.Int64Range(-14, 20).Draw(rt, "minute") // the last two turns, this one, the next two
				at := now.Add(time.Duration(minute) * time.Minute)
				slot := ((minute % 7) + 7) % 7
				v := rapid.Int64Range(-5, 5).Draw(rt, "value")
				have, has := model[slot]
				late := has && have.minute > minute
				var err error
				set := rapid.Bool().Draw(rt, "set")
				if set {
					if minute >= 0 && late {
						continue // Set does not read; only clocks that differ write an earlier turn after a future one
					}
					err = s.Set(t.Context(), id, at, v)
				} else {
					err = s.Add(t.Context(), id, at, v)
					if has && have.minute == minute {
						v += have.value
					}
				}
				if late != errors.Is(err, dataseries.ErrLate) || err != nil && !late {
					rt.Fatalf("late %v: %v", late, err)
				}
				if !late {
					model[slot] = cell{minute, v}
				}
			}
			for _, turn := range []int64{-14, -7, 0, 7, 14} {
				points := assert.Must(s.Get(t.Context(), id, now.Add(time.Duration(turn)*time.Minute)))(rt)
				n := 0
				for _, c := range model {
					if c.minute >= turn && c.minute < turn+7 {
						n++
					}
				}
				assert.Equal(assert.Now(rt), len(points), n, "turn", turn, points, "model", model)
				for _, p := range points {
					minute := int64(p.Time.Sub(now) / time.Minute)
					if c := model[((minute%7)+7)%7]; c.minute != minute || c.value != p.Value {
						rt.Fatalf("minute %d is %v, model %v", minute, p, c)
					}
				}
			}
		})
	})
}

func TestInvalidArgumentsAreRefusedWithoutARequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		ints := open[int32](t, b, dataseries.HoursOfDay())
		b.ResetRequests()
		for what, c := range map[string]struct{ err, want error }{
			"no name":      {ints.Set(ctx, dataseries.ID{Partition: "p"}, today(1), 1), dataseries.ErrNoID},
			"slash":        {ints.Set(ctx, dataseries.ID{Partition: "a/b", Series: "s"}, today(1), 1), patterns.ErrBadKey},
			"year 0":       {ints.Add(ctx, ken, time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), 1), patterns.ErrBadKey},
			"year 10000":   {ints.SetAll(ctx, ken, []dataseries.Point[int32]{{Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}}), patterns.ErrBadKey},
			"no ring":      {func() error { _, err := dataseries.New[int32](b.Table(t), dataseries.Ring{}, nil); return err }(), dataseries.ErrBadRing},
			"no slots":     {func() error { _, err := dataseries.Steps(0, time.Hour); return err }(), dataseries.ErrBadRing},
			"long turn":    {func() error { _, err := dataseries.Steps(10_000, 147*365*24*time.Hour/10_000); return err }(), dataseries.ErrBadRing},
			"broken steps": {func() error { _, err := dataseries.Steps(5, time.Millisecond+1); return err }(), dataseries.ErrBadRing},
		} {
			assert.WantError(t, c.err, c.want, what)
		}
		b.WantRequestCount(t, 0)
	})
}

func TestASumThatOverflowsIsNotStored(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		ints, floats := open[int32](t, b, dataseries.HoursOfDay()), open[float64](t, b, dataseries.HoursOfDay())
		assert.NoError(t, ints.Set(ctx, ken, today(1), math.MaxInt32))
		assert.WantError(t, ints.Add(ctx, ken, today(1), 1), dataseries.ErrOverflow, "overflow")
		assert.NoError(t, ints.Set(ctx, ken, today(2), math.MinInt32))
		assert.WantError(t, ints.Add(ctx, ken, today(2), -1), dataseries.ErrOverflow, "overflow below")
		assert.NoError(t, floats.Set(ctx, ken, today(1), math.MaxFloat64))
		assert.WantError(t, floats.Add(ctx, ken, today(1), math.MaxFloat64), dataseries.ErrOverflow, "overflow of a float")
		points, err := ints.Get(ctx, ken, today(0))
		if err != nil || len(points) != 2 || points[0].Value != math.MaxInt32 || points[1].Value != math.MinInt32 {
			t.Errorf("got %v, %v", points, err)
		}
	})
}

func TestNaNIsStored(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s, ctx := open[float64](t, b, dataseries.HoursOfDay()), t.Context()
		assert.NoError(t, s.Set(ctx, ken, today(2), math.NaN()))
		if points, err := s.Get(ctx, ken, today(0)); err != nil || len(points) != 1 || !math.IsNaN(points[0].Value) {
			t.Errorf("got %v, %v", points, err)
		}
	})
}

func TestAStoredValueOfAnotherTypeIsAnError(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		floats, ctx := open[float64](t, b, dataseries.HoursOfDay()), t.Context()
		assert.NoError(t, floats.Set(ctx, ken, today(1), 1.5))
		other, _ := dataseries.New[int32](floats.Client(), dataseries.HoursOfDay(), nil)
		var p *patterns.PropertyError
		if _, err := other.Get(ctx, ken, today(0)); !errors.As(err, &p) || p.Property != "Value001" {
			t.Errorf("got %v", err)
		}
	})
}

// Clients without Int64 write numbers as Int32.
func TestInt32ValuesOfOtherWritersAreAccepted(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s, ctx := open[int64](t, b, dataseries.HoursOfDay()), t.Context()
		rows := assert.Must(patterns.NewTable[map[string]any](s.Client(), &patterns.TableOptions[map[string]any]{Keyless: true}))(t)
		foreign := map[string]any{"Value007": int32(12), "Turn007": int32(16282)}
		assert.NoError(t, assert.ErrorOf(rows.Do(ctx, patterns.InsertOp(&foreign).At(keys.Key{Partition: "Sales", Row: "000123_"}))))
		at := time.Date(2014, 7, 31, 7, 30, 0, 0, time.UTC)
		assert.WantError(t, s.Set(ctx, ken, at.AddDate(0, 0, -1), 1), dataseries.ErrLate, "set of the day before")
		assert.NoError(t, s.Add(ctx, ken, at, 5))
		if points, err := s.Get(ctx, ken, at); err != nil || len(points) != 1 || points[0].Value != 17 {
			t.Errorf("got %v, %v", points, err)
		}
	})
}

func TestASlotKeepsItsInt32OrTheValueIsRefused(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		by := &dataseries.Options{Property: "MessageCountHour"}
		const row = `{"PartitionKey":"Sales","RowKey":"000123","MessageCountHour02":5,"MessageCountHour03":-7,"Note":"n"}`
		assert.Must(client.AddEntity(ctx, []byte(row), nil))(t)
		want := func(text string) {
			t.Helper()
			reply := assert.Must(client.GetEntity(ctx, "Sales", "000123", nil))(t)
			if !strings.Contains(string(reply.Value), text) || strings.Contains(string(reply.Value), "MessageCountHour02@") {
				t.Errorf("%s, want %s", reply.Value, text)
			}
		}
		refused := func(err error) {
			t.Helper()
			var p *patterns.PropertyError
			if !errors.As(err, &p) || p.Property != "MessageCountHour02" {
				t.Errorf("got %v", err)
			}
		}
		longs := assert.Must(dataseries.New[int64](client, dataseries.HoursOfDay(), by))(t)
		assert.NoError(t, longs.Add(ctx, ken, today(1), 1))
		want(`"MessageCountHour02":6`)
		assert.NoError(t, longs.Update(ctx, ken, today(1), func(old int64) (int64, error) { return math.MaxInt32, nil }))
		want(`"MessageCountHour02":2147483647`)
		refused(longs.Add(ctx, ken, today(1), 1))
		refused(longs.Update(ctx, ken, today(1), func(int64) (int64, error) { return math.MinInt32 - 1, nil }))
		want(`"MessageCountHour02":2147483647`)

		floats := assert.Must(dataseries.New[float64](client, dataseries.HoursOfDay(), by))(t)
		assert.NoError(t, floats.Add(ctx, ken, today(1), -7))
		want(`"MessageCountHour02":2147483640`)
		refused(floats.Add(ctx, ken, today(1), 0.5))
		refused(floats.Add(ctx, ken, today(1), math.NaN()))
		want(`"MessageCountHour02":2147483640`)
	})
}

func TestMinutesAreOverwrittenEveryHour(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s, ctx := open[int64](t, b, dataseries.MinutesOfHour()), t.Context()
		hour := today(12).Truncate(time.Hour).AddDate(0, 0, 1)
		for minute := range 90 { // the last 30 overwrite the first
			assert.NoError(t, s.Set(ctx, ken, hour.Add(time.Duration(minute)*time.Minute+59*time.Second), int64(minute)))
		}
		for what, read := range map[string]func() ([]dataseries.Point[int64], error){
			"the first hour":  func() ([]dataseries.Point[int64], error) { return s.Get(ctx, ken, hour) },
			"the second hour": func() ([]dataseries.Point[int64], error) { return s.Get(ctx, ken, hour.Add(time.Hour)) },
		} {
			if points, err := read(); err != nil || len(points) != 30 {
				t.Errorf("%s: %v, %v", what, points, err)
			}
		}
		last, err := s.Last(ctx, ken, hour.Add(89*time.Minute))
		if err != nil || len(last) != 60 {
			t.Fatalf("the last 60 minutes: %v, %v", last, err)
		}
		for i, p := range last {
			if want := hour.Add(time.Duration(30+i) * time.Minute); p.Value != int64(30+i) || !p.Time.Equal(want) {
				t.Errorf("point %d is %v of %v, want %v", i, p.Value, p.Time, want)
			}
		}
	})
}

// Other programs read the stored form.
func TestTheStoredFormDoesNotChange(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s, ctx := open[int64](t, b, dataseries.HoursOfDay()), t.Context()
		assert.NoError(t, s.Set(ctx, ken, time.Date(2014, 7, 31, 7, 59, 59, 0, time.UTC), 12))
		rows, _ := patterns.NewTable[map[string]any](s.Client(), &patterns.TableOptions[map[string]any]{Keyless: true})
		row, err := rows.Get(ctx, keys.Key{Partition: "Sales", Row: "000123_"})
		if err != nil || row.Value["Value007"] != int64(12) || row.Value["Turn007"] != int64(16282) {
			t.Errorf("got %v, %v", row.Value, err)
		}
	})
}

// The attempt that got no reply is applied after another writer has stored a value of the next turn.
func TestALateUpdateDoesNotHideALaterTurn(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s, ctx := open[int64](t, b, dataseries.HoursOfDay()), t.Context()
		assert.NoError(t, s.Add(ctx, ken, today(12), 1))
		tomorrow := today(12).AddDate(0, 0, 1)
		tries := 0
		err := s.Update(ctx, ken, today(12), func(old int64) (int64, error) {
			if tries++; tries == 1 { // between the read and the write
				assert.NoError(t, s.Set(ctx, ken, tomorrow, 7))
			}
			return old + 5, nil
		})
		if !errors.Is(err, dataseries.ErrLate) || tries != 1 {
			t.Errorf("%v after %d tries", err, tries)
		}
		if points, err := s.Get(ctx, ken, tomorrow); err != nil || len(points) != 1 || points[0].Value != 7 {
			t.Errorf("got %v, %v", points, err)
		}
		own := errors.New("own")
		assert.Equal(t, s.Update(ctx, ken, tomorrow, func(int64) (int64, error) { return 0, own }), own, "the error of the function is returned as")
		assert.WantError(t, s.Update(ctx, ken, tomorrow, nil), patterns.ErrNil, "nil function")
	})
}

func TestCreate(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		b.WantCreate(t, func(client *aztables.Client) func(context.Context) error {
			return assert.Must(dataseries.New[int64](client, dataseries.HoursOfDay(), nil))(t).Create
		})
	})
}
