package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func smith() *hire { return &hire{Dept: "Sales", ID: "000224", Last: "Smith", Age: 40} }

// counted checks that the counters are the sums of the marks, and that there is one mark
// for each primary.
func counted(ctx context.Context, client *aztables.Client) error {
	rows, err := readTable(ctx, client)
	if err != nil {
		return err
	}
	primaries, years, marks := 0, 0, 0
	for key, p := range rows {
		switch {
		case strings.Contains(key, "|id_"):
			primaries++
			years += int(hireOf(key, p).Age)
		case strings.Contains(key, "~azp_count_"):
			marks++
		}
	}
	number := func(name string) string {
		if n := rows["company|all"][name]; n != nil {
			return fmt.Sprint(n)
		}
		return "0"
	}
	have := fmt.Sprintf("%d marks, count %s, years %s", marks, number("Count"), number("Years"))
	if want := fmt.Sprintf("%d marks, count %d, years %d", primaries, primaries, years); have != want {
		return fmt.Errorf("have %s, want %s", have, want)
	}
	return nil
}

// writesOfMarks returns a hook that calls at before the first request after the commit of
// an operation that writes a mark.
func writesOfMarks(at func()) func(method, path string) {
	transactions := 0
	return func(method, path string) {
		if strings.HasSuffix(path, "$batch") {
			transactions++
		}
		if transactions == 2 || method == http.MethodDelete && strings.Contains(path, "~azp_count_") {
			transactions = 3 // only once
			at()
		}
	}
}

// The row of a counter is deleted. Then one client deletes an entity while another client
// inserts one. Each of them pauses before it writes while the other one finishes.
func TestADeletedCounterIsRightAfterConcurrentChanges(t *testing.T) {
	for _, deleterPauses := range []bool{true, false} {
		err := inVirtualTime(t, func(ctx context.Context) error {
			c, err := newCluster(ctx, []string{"company"})
			if err != nil {
				return err
			}
			deleter, err1 := c.start(&process{})
			inserter, err2 := c.start(&process{})
			_, err3 := deleter.Insert(ctx, jones())
			_, err4 := c.own.DeleteEntity(ctx, "company", "all", nil)
			if err := errors.Join(err1, err2, err3, err4); err != nil {
				return err
			}
			remove := func(context.Context) error { return deleter.Delete(ctx, jones().key()) }
			insert := func(context.Context) error { _, err := inserter.Insert(ctx, smith()); return err }
			first, paused, then := remove, deleter, insert
			if !deleterPauses {
				first, paused, then = insert, inserter, remove
			}
			var during error
			reached := false
			paused.sending = writesOfMarks(func() {
				reached = true
				during = then(ctx)
			})
			err = errors.Join(first(ctx), during, c.recover(ctx), inserter.Repair(ctx, smith().key()))
			if !reached {
				err = errors.Join(err, errors.New("no mark was written"))
			}
			return errors.Join(err, counted(ctx, c.own))
		})
		assert.Equal(t, err, nil, "the deleter pauses", deleterPauses)
	}
}

// The first attempt of the transaction that creates a counter arrives after its entity
// was deleted, another one was counted, and the counter's row was deleted.
func TestALateFirstCountChangesNothing(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, []string{"company"})
		if err != nil {
			return err
		}
		p, err1 := c.start(&process{})
		err2 := c.delay(storagetest.On("Table.Batch").Nth(2)) // which creates the counter
		_, err3 := p.Insert(ctx, jones())
		_, err4 := p.Insert(ctx, smith())
		err5 := p.Delete(ctx, jones().key())
		_, err6 := c.own.DeleteEntity(ctx, "company", "all", nil)
		return errors.Join(err1, err2, err3, err4, err5, err6, c.arrive(), c.recover(ctx), p.Repair(ctx, smith().key()), counted(ctx, c.own))
	})
	assert.Equal(t, err, nil)
}
