package highvolumedelete_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
)

func TestBulkWritesToSeveralPeriods(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, uniquePrefix(), highvolumedelete.Day, nil)
		var values []login
		for i := range 250 {
			values = append(values, login{User: "u", At: day(2).Add(time.Duration(i) * time.Second)})
		}
		for i := range 30 {
			values = append(values, login{User: "v", At: day(1).Add(time.Duration(i) * time.Second)})
		}
		values = append(values, login{User: "w"}) // without a time
		var last patterns.Progress
		options := &patterns.BulkOptions{Progress: func(p patterns.Progress) { last = p }}
		r, err := s.Bulk(t.Context(), slices.Values(values), patterns.InsertOp, options)
		if !errors.Is(err, patterns.ErrBadKey) || len(r.Failures) != 1 || r.Failures[0].Index != 280 {
			t.Errorf("failures %v, %v", r.Failures, err)
		}
		if r.Done != 280 || r.Found != 281 || r.Failed != 1 || r.Requests != 4 || last != r.Progress {
			t.Errorf("%+v, last progress %+v", r.Progress, last)
		}
		b.WantRequests(t, map[string]int{"Table.CreateTable": 2, "Table.Batch": 4})

		// All rows exist now, which makes no difference to upserts.
		upsert := func(v *login) patterns.Op[login] { return patterns.UpsertOp(v, patterns.Replace) }
		assert.Equal(t, assert.Must(s.Bulk(t.Context(), slices.Values(values[:280]), upsert, nil))(t).Done, 280)
		b.WantRequests(t, map[string]int{"Table.Batch": 4})
		r, err = s.Bulk(t.Context(), slices.Values(values[270:280]), patterns.InsertOp, nil)
		assert.WantError(t, err, patterns.ErrExists)
		assert.Equal(t, r.Failed, 10)
	})
}

func TestBulkRefusesDroppedPeriodsAndCreatesMissingTables(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, "Logins", highvolumedelete.Day, &highvolumedelete.Options[login]{Keep: 1000 * time.Hour})
		now := time.Now()
		insert(t, s, "a", now)
		table, _ := s.Table(now)
		assert.NoError(t, table.Drop(t.Context()))
		r, err := s.Bulk(t.Context(), slices.Values([]login{{User: "b", At: now}}), patterns.InsertOp, nil)
		assert.WantError(t, err, highvolumedelete.ErrDropped)
		assert.Equal(t, r.Failed, 1)
		time.Sleep(time.Minute)
		insert(t, s, "a", now.Add(1))
		assert.NoError(t, table.Drop(t.Context()))
		time.Sleep(time.Minute)
		values := []login{{User: "b", At: now}, {User: "b", At: now.Add(-2000 * time.Hour)}}
		r, err = s.Bulk(t.Context(), slices.Values(values), patterns.InsertOp, nil)
		if !errors.Is(err, highvolumedelete.ErrDropped) || r.Done != 1 || r.Failed != 1 || r.Failures[0].Index != 1 || r.Failures[0].Key.Partition != "b" {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestBulkReportsUnsentValuesWhenItsContextEnds(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, "Logins", highvolumedelete.Day, nil)
		ctx, cancel := context.WithCancel(t.Context())
		r, err := s.Bulk(ctx, func(yield func(login) bool) {
			for i := range 5 {
				if i == 3 {
					cancel()
				}
				if !yield(login{User: "u", At: day(1 + i%2).Add(time.Duration(i))}) {
					return
				}
			}
		}, patterns.InsertOp, nil)
		if !errors.Is(err, context.Canceled) || r.Found != 3 || r.Failed != 3 || len(r.Failures) != 3 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
