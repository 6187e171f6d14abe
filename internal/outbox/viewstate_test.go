package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

func TestReadersKnowWhichViewsAreComplete(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		views := []patterns.View[hire]{emails("1", asIs), lastHere()}
		open := func(opts patterns.StoreOptions[hire]) *patterns.Store[hire] {
			return assert.Must(newHires(client, opts))(t)
		}
		s := open(patterns.StoreOptions[hire]{Views: views})
		want := func(s *patterns.Store[hire], want ...patterns.ViewState) {
			t.Helper()
			b.ResetRequests()
			got := assert.Must(s.ViewStates(ctx))(t)
			b.WantRequestCount(t, 1)
			for i := range got {
				if age := time.Since(got[i].Since); got[i].State != "" && (age.Abs() > 5*time.Minute) {
					t.Errorf("%+v", got[i])
				}
				got[i].Since = time.Time{}
			}
			assert.EqualSlices(t, got, want)
		}
		set := func(s *patterns.Store[hire], state string, requests int) {
			t.Helper()
			b.ResetRequests()
			assert.NoError(t, s.SetViewState(ctx, "emails", state))
			b.WantRequestCount(t, requests)
		}
		refused := func(s *patterns.Store[hire], state string, sentinel error) {
			t.Helper()
			assert.WantError(t, s.SetViewState(ctx, "emails", state), sentinel, state)
		}
		unknown := patterns.ViewState{View: "lastHere"}
		emailsAre := func(state string) patterns.ViewState { return patterns.ViewState{View: "emails", State: state} }

		want(s, emailsAre(""), unknown)
		set(s, "", 1)
		set(s, patterns.ViewBuilding, 2)
		set(s, patterns.ViewBuilding, 1)
		want(s, emailsAre(patterns.ViewBuilding), unknown)
		set(s, patterns.ViewReady, 2)
		want(s, emailsAre(patterns.ViewReady), unknown)

		changed := open(patterns.StoreOptions[hire]{Views: []patterns.View[hire]{emails("2", asIs)}})
		want(changed, patterns.ViewState{View: "emails", State: patterns.ViewReady, OtherDefinition: true})
		var mismatch *patterns.ViewMismatchError
		if err := changed.SetViewState(ctx, "emails", patterns.ViewBuilding); !errors.As(err, &mismatch) || mismatch.View != "emails" {
			t.Error(err)
		}

		building := open(patterns.StoreOptions[hire]{Views: views, Building: []string{"emails"}})
		retired := open(patterns.StoreOptions[hire]{Views: views, Retired: []string{"emails"}})
		gone := open(patterns.StoreOptions[hire]{Views: views[1:], Retired: []string{"emails"}})
		refused(building, patterns.ViewReady, patterns.ErrBadView)
		refused(retired, patterns.ViewBuilding, patterns.ErrBadView)
		refused(s, patterns.ViewRetiring, patterns.ErrBadView)
		refused(s, "complete", patterns.ErrBadView)
		refused(open(patterns.StoreOptions[hire]{}), "", patterns.ErrBadView)

		set(retired, patterns.ViewRetiring, 2)
		want(retired, emailsAre(patterns.ViewRetiring), unknown)
		want(gone, unknown, emailsAre(patterns.ViewRetiring))
		refused(s, patterns.ViewReady, patterns.ErrConflict)
		set(gone, "", 2)
		want(s, emailsAre(""), unknown)
		rows, err := readTable(ctx, client)
		if assert.NoError(t, err); len(rows) > 0 {
			t.Errorf("rows %v", rows)
		}
	})
}

func TestALostReplyDoesNotChangeTheStateOfAView(t *testing.T) {
	steps := 1
	for lost := 0; lost <= steps; lost++ {
		err := inVirtualTime(t, func(ctx context.Context) error {
			c, err := newCluster(ctx, []string{"byEmail"})
			if err != nil {
				return err
			}
			p, err := c.start(&process{lost: lost})
			if err != nil {
				return err
			}
			for _, state := range []string{patterns.ViewBuilding, patterns.ViewReady, "", patterns.ViewReady} {
				if err := p.SetViewState(ctx, "byEmail", state); err != nil {
					return fmt.Errorf("%s: %w", state, err)
				}
				if states, err := p.ViewStates(ctx); err != nil || states[0].State != state {
					return fmt.Errorf("%+v, want %s, %w", states, state, err)
				}
			}
			if lost == 0 {
				steps = p.steps
			}
			return nil
		})
		assert.Equal(t, err, nil, "reply", lost, "lost")
	}
}

// Two processes record different states at the same time: one of them reads again, and fails.
func TestAViewThatIsBeingRemovedDoesNotBecomeReady(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, []string{"byEmail"})
		if err != nil {
			return err
		}
		builder, err1 := c.start(&process{})
		remover, err2 := c.start(&process{version: version{retired: []string{"byEmail"}}})
		err3 := builder.SetViewState(ctx, "byEmail", patterns.ViewBuilding)
		var err4 error
		builder.sending = func(method, path string) {
			if method == "PUT" && strings.Contains(path, "~azp_view_") {
				builder.sending = nil
				err4 = remover.SetViewState(ctx, "byEmail", patterns.ViewRetiring)
			}
		}
		if err := builder.SetViewState(ctx, "byEmail", patterns.ViewReady); !errors.Is(err, patterns.ErrConflict) {
			return fmt.Errorf("ready: %w", err)
		}
		states, err5 := remover.ViewStates(ctx)
		if len(states) != 1 || states[0].State != patterns.ViewRetiring {
			err5 = errors.Join(err5, fmt.Errorf("%+v", states))
		}
		return errors.Join(err1, err2, err3, err4, err5)
	})
	assert.Equal(t, err, nil)
}
