package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestExplainPredictsTheNumberOfRequestsAndOfRoundTrips(t *testing.T) {
	for seed := range uint64(100) {
		chance := rand.New(rand.NewPCG(seed, 0))
		was, now := drawHire(chance), drawHire(chance)
		now.Dept, now.ID = was.Dept, was.ID
		switch chance.IntN(3) {
		case 0:
			was = nil
		case 1:
			now = nil
		}
		follow, parallel := patterns.Follow(chance.IntN(2)), []int{0, 1, 2, 3}[chance.IntN(4)]
		for _, finisher := range []bool{false, true} {
			assert.Equal(t, inVirtualTime(t, func(ctx context.Context) error { return explained(ctx, was, now, follow, parallel, finisher) }), nil, "seed", seed, "with a Finisher", finisher)
		}
	}
}

func explained(ctx context.Context, was, now *hire, follow patterns.Follow, parallel int, finisher bool) error {
	c, err := newCluster(ctx, everyView)
	if err != nil {
		return err
	}
	before, err := c.start(&process{})
	if err != nil {
		return err
	}
	// Another entity is in each list, so that no list becomes empty.
	for _, last := range []string{"Jones", "Smith"} {
		if _, err := before.Insert(ctx, &hire{Dept: "Sales", ID: "other" + last, Last: last}); err != nil {
			return err
		}
	}
	if was != nil {
		if _, err := before.Insert(ctx, was); err != nil {
			return err
		}
	}
	c.follow = follow
	s := &process{parallel: parallel, takes: perRequest}
	if finisher {
		s.finisher = newFinisher(nil)
	}
	if s, err = c.start(s); err != nil {
		return err
	}
	plan, err := s.ExplainChange(was, now)
	if err != nil {
		return err
	}
	began := time.Now()
	switch {
	case was == nil:
		_, err = s.Insert(ctx, now)
	case now == nil:
		err = s.Delete(ctx, was.key())
	default:
		_, err = s.Put(ctx, now)
	}
	if err != nil {
		return err
	}
	took := time.Since(began)
	if err := s.close(ctx); err != nil {
		return err
	}
	if s.steps != plan.Requests || took != time.Duration(plan.RoundTrips)*perRequest {
		return fmt.Errorf("%d requests were made in %v, from %+v to %+v, at most %d concurrently:\n%v\n%v", s.steps, took, was, now, parallel, plan, c.account.Log())
	}
	return nil
}

func TestExplainPrintsKeysOnlyWithPlusV(t *testing.T) {
	s := assert.Must(newHires(storagetest.New(t).Tables().NewClient("hires"), patterns.StoreOptions[hire]{Views: localViews()}))(t)
	stored := patterns.Item[hire]{Value: *jones(), Key: jones().key(), ETag: `W/"x"`}
	for _, op := range []patterns.StoreOp[hire]{
		patterns.InsertEntity(jones()), patterns.PutEntity(jones()),
		patterns.PutEntity(jones()).Was(stored), patterns.DeleteEntity[hire](jones().key()),
	} {
		plan := assert.Must(s.Explain(op))(t)
		if text := fmt.Sprint(plan); strings.Contains(text, "000223") || strings.Contains(text, "contoso") {
			t.Errorf("keys in\n%s", text)
		}
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("will do", "plan", plan)
		if text := log.String(); strings.Contains(text, "000223") || !strings.Contains(text, "transaction") {
			t.Errorf("logged\n%s", text)
		}
		assert.Contains(t, fmt.Sprintf("%+v", plan), "000223", "no keys in")
	}
}

func TestExplainCombinesEqualSteps(t *testing.T) {
	many := patterns.ViewOf("many", patterns.Shape{}, func(h *hire) (rows []patterns.DerivedRow, err error) {
		for i := range 120 {
			rows = append(rows, patterns.CopyRow(keys.Key{Partition: h.key().Partition, Row: fmt.Sprintf("many_%03d", i)}, patterns.CopySpec{}))
		}
		return rows, nil
	})
	s, err := newHires(storagetest.New(t).Tables().NewClient("hires"), patterns.StoreOptions[hire]{Views: []patterns.View[hire]{many}})
	assert.NoError(t, err)
	_, err = s.Insert(t.Context(), jones())
	if !errors.Is(err, patterns.ErrTooLarge) || !strings.HasSuffix(fmt.Sprint(err), "insert primary\n             insert copy of many, 120 times\n") {
		t.Errorf("%v", err)
	}
	plan := assert.Must(s.Explain(patterns.InsertEntity(jones())))(t)
	assert.Equal(t, strings.Count(fmt.Sprintf("%+v", plan), "insert copy of many at "), 120, "rows with their keys")
}

func TestExplainRefusesAChangeOfKey(t *testing.T) {
	s := assert.Must(newHires(storagetest.New(t).Tables().NewClient("hires"), patterns.StoreOptions[hire]{Views: localViews()}))(t)
	other := jones()
	other.Dept = "Marketing"
	assert.WantError(t, assert.ErrorOf(s.ExplainChange(jones(), other)), patterns.ErrKeyChanged)
}
