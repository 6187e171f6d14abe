package outbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/patterns"
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
		if err != nil {
			t.Errorf("the deleter pauses %v: %v", deleterPauses, err)
		}
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
		var late *http.Request
		transactions := 0
		p.holdBack = func(req *http.Request) bool {
			if strings.HasSuffix(req.URL.Path, "$batch") {
				transactions++
			}
			if transactions != 2 || late != nil {
				return false
			}
			body, err := io.ReadAll(req.Body)
			late = req.Clone(context.Background())
			late.Body = io.NopCloser(bytes.NewReader(body))
			return err == nil
		}
		_, err2 := p.Insert(ctx, jones())
		if late == nil {
			return errors.New("no counter was created")
		}
		_, err3 := p.Insert(ctx, smith())
		err4 := p.Delete(ctx, jones().key())
		_, err5 := c.own.DeleteEntity(ctx, "company", "all", nil)
		resp, err6 := p.inner.Do(late)
		if err6 == nil {
			resp.Body.Close()
		}
		return errors.Join(err1, err2, err3, err4, err5, err6, c.recover(ctx), p.Repair(ctx, smith().key()), counted(ctx, c.own))
	})
	if err != nil {
		t.Error(err)
	}
}

// damage is a random schedule of inserts and deletes during which the counter's row is
// deleted several times.
type damage struct {
	Clients, Acts, Deletions int
	Lose                     float64
}

func (d *damage) run(ctx context.Context, seed uint64) error {
	c, err := newCluster(ctx, []string{"company"})
	if err != nil {
		return err
	}
	errs := make([]error, d.Clients+1)
	var wg sync.WaitGroup
	for i := range d.Clients {
		chance := rand.New(rand.NewPCG(seed, uint64(i)))
		p, err := c.start(&process{chance: rand.New(rand.NewPCG(seed, uint64(i+100))), latency: time.Second, lose: d.Lose})
		if err != nil {
			return err
		}
		wg.Go(func() {
			for range d.Acts {
				h := jones()
				h.ID = fmt.Sprint(chance.IntN(3))
				var err error
				if chance.IntN(2) == 0 {
					_, err = p.Insert(ctx, h)
				} else {
					err = p.Delete(ctx, h.key())
				}
				if !expected(err) {
					errs[i] = err
				}
			}
		})
	}
	wg.Go(func() {
		chance := rand.New(rand.NewPCG(seed, 1000))
		for range d.Deletions {
			time.Sleep(time.Duration(chance.Int64N(int64(20 * time.Second))))
			if _, err := c.own.DeleteEntity(ctx, "company", "all", nil); err != nil && !strings.Contains(err.Error(), "ResourceNotFound") {
				errs[d.Clients] = err
			}
		}
	})
	wg.Wait()
	if err := errors.Join(append(errs, c.recover(ctx))...); err != nil {
		return err
	}
	repairer, err := c.start(&process{})
	for i := range 3 {
		h := jones()
		h.ID = fmt.Sprint(i)
		if rerr := repairer.Repair(ctx, h.key()); rerr != nil && !errors.Is(rerr, patterns.ErrNotFound) {
			err = errors.Join(err, rerr)
		}
	}
	return errors.Join(err, counted(ctx, c.own))
}

func TestACounterIsTheSumOfItsMarksHoweverOftenItIsDeleted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := &damage{
			Clients: rapid.IntRange(2, 4).Draw(rt, "clients"), Acts: rapid.IntRange(2, 8).Draw(rt, "acts"),
			Deletions: rapid.IntRange(1, 6).Draw(rt, "deletions"), Lose: rapid.SampledFrom([]float64{0, 0.05}).Draw(rt, "lose"),
		}
		seed := rapid.Uint64().Draw(rt, "seed")
		if err := inVirtualTime(t, func(ctx context.Context) error { return d.run(ctx, seed) }); err != nil {
			rt.Fatalf("seed %d: %v", seed, err)
		}
	})
}
