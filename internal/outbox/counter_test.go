package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// branches counts per department, in the partition of company.
func branches() patterns.View[hire] {
	return patterns.ViewOf("branches", patterns.Shape{Kind: patterns.Merges, Remote: true}, func(h *hire) ([]patterns.DerivedRow, error) {
		return []patterns.DerivedRow{patterns.MergeRow(keys.Key{Partition: "company", Row: h.Dept},
			patterns.MergeSpec{Add: map[string]any{"Count": int32(1)}, Existing: h.Dept == "Marketing"})}, nil
	})
}

// counts returns the stored counters, and those that the primaries imply.
func counts(ctx context.Context, client *aztables.Client) (have, want string, err error) {
	rows, err := readTable(ctx, client)
	years, people := 0, map[string]int{}
	for key, p := range rows {
		if strings.Contains(key, "|id_") {
			h := hireOf(key, p)
			years += int(h.Age)
			people[h.Dept]++
			people["all"]++
		}
	}
	all, sales, marketing := rows["company|all"], rows["company|Sales"], rows["company|Marketing"]
	have = fmt.Sprintf("%v %v %v %v", all["Count"], all["Years"], sales["Count"], marketing["Count"])
	return have, fmt.Sprintf("%v %v %v %v", people["all"], years, people["Sales"], people["Marketing"]), err
}

// The rows of the counters are deleted, or replaced by rows without a number. The next
// insert, update, delete or repair of one entity counts again.
func TestADeletedCounterIsCountedAgain(t *testing.T) {
	row := func(name string) []byte {
		return fmt.Appendf(nil, `{"PartitionKey":"company","RowKey":%q,"Motto":"x"}`, name)
	}
	damage := map[string]func(ctx context.Context, c *aztables.Client, name string) error{
		"deleted": func(ctx context.Context, c *aztables.Client, name string) error {
			_, err := c.DeleteEntity(ctx, "company", name, nil)
			if err == nil && name == "Marketing" { // the view does not create it
				_, err = c.AddEntity(ctx, row(name), nil)
			}
			return err
		},
		"replaced": func(ctx context.Context, c *aztables.Client, name string) error {
			_, err := c.UpdateEntity(ctx, row(name), &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace})
			return err
		},
	}
	member := func(dept, id string) *hire { return &hire{Dept: dept, ID: id, Last: "x", Age: 30} }
	next := map[string]func(ctx context.Context, s *patterns.Store[hire], dept string) error{
		"repair": func(ctx context.Context, s *patterns.Store[hire], dept string) error {
			err := s.Repair(ctx, member(dept, "1").key())
			return err
		},
		"insert": func(ctx context.Context, s *patterns.Store[hire], dept string) error {
			_, err := s.Insert(ctx, member(dept, "9"))
			return err
		},
		"update": func(ctx context.Context, s *patterns.Store[hire], dept string) error {
			for _, id := range []string{"1", "2"} { // the second one finds the counter
				if _, err := s.Update(ctx, member(dept, id).key(), func(h *hire) error { h.Age++; return nil }); err != nil {
					return err
				}
			}
			err := s.Repair(ctx, member(dept, "1").key()) // an update does not change the number of people
			return err
		},
		"delete": func(ctx context.Context, s *patterns.Store[hire], dept string) error {
			if err := s.Delete(ctx, member(dept, "1").key()); err != nil {
				return err
			}
			err := s.Repair(ctx, member(dept, "2").key()) // a delete does not create the counter
			return err
		},
	}
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		for how, damage := range damage {
			for what, next := range next {
				client := b.Table(t)
				s, err := newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{company(), branches()}, Outbox: &harness.OutboxQueue{}})
				assert.NoError(t, err)
				check := func(when string, err error) {
					t.Helper()
					assert.NoError(t, err, how, what, when)
				}
				_, err = client.AddEntity(ctx, row("Marketing"), nil)
				check("before", err)
				for _, dept := range []string{"Sales", "Marketing"} {
					for _, id := range []string{"1", "2"} {
						_, err := s.Insert(ctx, member(dept, id))
						check("before", err)
					}
				}
				for _, name := range []string{"all", "Sales", "Marketing"} {
					check("damaged", damage(ctx, client, name))
				}
				for _, dept := range []string{"Sales", "Marketing"} {
					check("next", next(ctx, s, dept))
				}
				have, want, err := counts(ctx, client)
				check("after", err)
				assert.Equal(t, have, want, how, what, "counters")
			}
		}
	})
}

// An entity is deleted before its insert is drained. The drain of the delete finds no
// counter; then the drain of the insert creates counter and mark; then the drain of the
// delete finds the mark.
func TestACountMadeDuringADeleteIsUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		c := assert.Must(newCluster(ctx, []string{"company"}))(t)
		a, err1 := c.start(&process{})
		b, err2 := c.start(&process{})
		found, counted := make(chan bool), make(chan bool)
		var transactions atomic.Int32
		var deleted error
		a.sending = func(_, path string) {
			if !strings.HasSuffix(path, "$batch") {
				return
			}
			if transactions.Add(1) == 2 { // that of the drain
				go func() { deleted = b.Delete(ctx, jones().key()); close(counted) }()
				<-found
			}
		}
		a.changed = func() {
			if transactions.Load() == 2 {
				counted <- true
				<-counted // b has finished
			}
		}
		b.sending = func(method, path string) {
			if method == "GET" && strings.Contains(path, "~azp_count_") && transactions.Load() == 2 {
				synctest.Wait() // until the reply about the counter
				found <- true
				<-counted
				transactions.Add(1) // only once
			}
		}
		_, inserted := a.Insert(ctx, jones())
		assert.Equal(t, errors.Join(err1, err2, inserted, deleted, c.recover(ctx), c.clean(ctx)), nil)
	})
}

// While the counter does not exist, an entity is deleted and inserted again between the
// reads of a drain and its delete of the mark.
func TestAMarkOfALaterCountIsKept(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, []string{"company"})
		if err != nil {
			return err
		}
		a, err1 := c.start(&process{})
		b, err2 := c.start(&process{})
		_, err3 := a.Insert(ctx, jones())
		_, err4 := c.own.DeleteEntity(ctx, "company", "all", nil)
		var back atomic.Bool
		var transactions atomic.Int32
		var err5 error
		b.sending = func(method, path string) {
			if strings.HasSuffix(path, "$batch") && transactions.Add(1) == 2 { // that of the drain
				back.Store(true)
				again := jones()
				again.Age++
				_, err5 = a.Insert(ctx, again)
			}
		}
		err6 := b.Delete(ctx, jones().key())
		if !back.Load() {
			return errors.New("the mark was not deleted")
		}
		return errors.Join(err1, err2, err3, err4, err5, err6, c.recover(ctx), c.clean(ctx))
	})
	assert.Equal(t, err, nil)
}
