package largeentity_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// step is one call of a sequence.
type step struct {
	Call         string
	ID           string
	Seed         string
	Photo, Notes int  // sizes
	Part         bool // the update changes only the notes
	Hours        int  // before a sweep
}

func drawStep(t *rapid.T) step {
	sizes := rapid.SampledFrom([]int{0, 1, 32 << 10, 32<<10 + 1, 50000})
	return step{
		Call:  rapid.SampledFrom([]string{"insert", "update", "update", "updateMeta", "delete", "sweep"}).Draw(t, "call"),
		ID:    rapid.SampledFrom([]string{"a", "b"}).Draw(t, "id"),
		Seed:  rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "seed"),
		Photo: sizes.Draw(t, "photo"), Notes: sizes.Draw(t, "notes"),
		Part: rapid.Bool().Draw(t, "part"), Hours: rapid.IntRange(0, 30).Draw(t, "hours"),
	}
}

func (s step) value() employee {
	e := employee{Department: "Sales", Email: s.ID, Photo: noise(s.Seed, s.Photo)}
	if s.Notes > 0 {
		e.Notes = fmt.Sprintf("%0*d", s.Notes, s.Notes)
	}
	return e
}

// After any sequence of calls the table contains what a map would, and after two sweeps
// the container contains exactly the blobs that the entities need.
func TestTheTableBehavesLikeAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		gzip := rapid.Bool().Draw(rt, "gzip")
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, 25).Draw(rt, "steps")
		var err error
		synctest.Test(t, func(t *testing.T) { err = runSteps(t, gzip, steps) })
		assert.NoError(rt, err)
	})
}

func runSteps(t *testing.T, gzip bool, steps []step) error {
	ctx := t.Context()
	acct := storagetest.Start(nil)
	client, blobs := acct.Tables().NewClient("Employees"), acct.Container("photos")
	table, err := largeentity.New(client, blobs, &largeentity.Options[employee]{Gzip: gzip})
	if err != nil {
		return err
	}
	if err := table.Create(ctx); err != nil {
		return err
	}
	model := map[string]employee{}
	for i, s := range steps {
		v, key := s.value(), keys.Key{Partition: "Sales", Row: s.ID}
		was, exists := model[s.ID]
		var err error
		switch s.Call {
		case "insert":
			if _, err = table.Insert(ctx, &v); exists && errors.Is(err, patterns.ErrExists) {
				err = nil
			} else {
				model[s.ID] = v
			}
		case "update", "updateMeta":
			call := table.Update
			if s.Call == "updateMeta" {
				call = table.UpdateMeta
				// A field that stays zero is not changed.
				if v.Photo == nil {
					v.Photo = was.Photo
				}
			}
			if s.Part && s.Call == "update" {
				v.Photo = was.Photo
			}
			if s.Call == "updateMeta" && v.Notes == "" && len(was.Notes) > 32<<10 {
				v.Notes = was.Notes
			}
			_, err = call(ctx, key, func(e *employee) error { *e = v; return nil })
			if !exists && errors.Is(err, patterns.ErrNotFound) {
				err = nil
			} else {
				model[s.ID] = v
			}
		case "delete":
			err = table.Delete(ctx, key, "")
			delete(model, s.ID)
		case "sweep":
			time.Sleep(time.Duration(s.Hours) * time.Hour)
			_, err = table.Sweep(ctx, nil)
		}
		if err == nil {
			err = equalsModel(t, table, model)
		}
		if err != nil {
			return fmt.Errorf("step %d, %s: %w", i, s.Call, err)
		}
	}
	for range 2 {
		time.Sleep(2 * day)
		if _, err := table.Sweep(ctx, nil); err != nil {
			return err
		}
	}
	need := 0
	for _, e := range model {
		for _, n := range []int{len(e.Photo), len(e.Notes)} {
			if n > 32<<10 {
				need++
			}
		}
	}
	if n := len(stored(t, blobs)); n != need {
		return fmt.Errorf("%d blobs, want %d", n, need)
	}
	return equalsModel(t, table, model)
}

func equalsModel(t *testing.T, table table, model map[string]employee) error {
	for _, id := range []string{"a", "b"} {
		item, err := table.Get(t.Context(), keys.Key{Partition: "Sales", Row: id})
		want, exists := model[id]
		switch {
		case !exists && errors.Is(err, patterns.ErrNotFound):
		case err != nil:
			return err
		case !exists || !same(item.Value, want):
			return fmt.Errorf("row %s has other content", id)
		}
	}
	return nil
}
