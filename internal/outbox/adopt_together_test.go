package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// byHand stores a row as a program that does not know the library does.
func byHand(t testing.TB, client *aztables.Client, key keys.Key, row map[string]any) {
	t.Helper()
	assert.MayFail(client.DeleteEntity(t.Context(), key.Partition, key.Row, nil))
	assert.Must(addByHand(t.Context(), client, key, row))(t)
}

func addByHand(ctx context.Context, client *aztables.Client, key keys.Key, row map[string]any) (etag string, err error) {
	all := maps.Clone(row)
	all["PartitionKey"], all["RowKey"] = key.Partition, key.Row
	body, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	res, err := client.AddEntity(ctx, body, nil)
	return string(res.ETag), err
}

// fields are the properties of h as such a program stores them: without the zero values.
func (h *hire) fields() map[string]any {
	row := map[string]any{"Dept": h.Dept, "ID": h.ID, "Name": h.Name, "Last": h.Last, "Age": h.Age}
	for name, text := range map[string]string{"Email": h.Email, "Badge": h.Badge} {
		if text != "" {
			row[name] = text
		}
	}
	return row
}

// copiesByHand are the copies of h for its views byEmail, byBadge and byName, in the layout that
// these have but for the marker.
func (h *hire) copiesByHand(own, other *aztables.Client, put func(view string, client *aztables.Client, key keys.Key, row map[string]any)) {
	put("byEmail", own, keys.Key{Partition: h.Dept, Row: "email_" + h.Email}, h.fields())
	put("byBadge", own, keys.Key{Partition: "badge", Row: h.Badge}, map[string]any{"Name": h.Name, "Badge": h.Badge})
	put("byName", other, keys.Key{Partition: "name_" + h.Name, Row: h.Dept + "_" + h.ID}, h.fields())
}

// hireByHand stores h with all copies.
func hireByHand(t testing.TB, own, other *aztables.Client, h *hire) {
	t.Helper()
	byHand(t, own, h.key(), h.fields())
	h.copiesByHand(own, other, func(_ string, client *aztables.Client, key keys.Key, row map[string]any) { byHand(t, client, key, row) })
}

// hireByHand stores a few entities and their copies as a program that was written by hand.
func (r *storeRun) hireByHand(ctx context.Context) {
	for i, h := range every[:3] {
		h := &hire{Dept: h.Dept, ID: h.ID, Name: "Ann", Last: "Jones", Age: int32(-i - 1)}
		h.Email, h.Badge = []string{"e1", "", "e2"}[i], []string{"", "b1", "b2"}[i]
		began := time.Now()
		etag, err := addByHand(ctx, r.own, h.key(), h.fields())
		r.check("entity", err)
		r.Add(h.Dept+h.ID, began, harness.Action{Kind: harness.InsertRow, A: fmt.Sprint(h.Age)}, harness.Result{Outcome: harness.Applied, Row: harness.Row{ETag: etag}}, 0)
		h.copiesByHand(r.own, r.other, func(view string, client *aztables.Client, key keys.Key, row map[string]any) {
			if none := view == "byEmail" && h.Email == "" || view == "byBadge" && h.Badge == ""; none || !slices.Contains(r.views, view) {
				return
			}
			if view == "byBadge" && slices.Contains(r.views, unmarked) {
				row["Dept"], row["ID"] = h.Dept, h.ID
			}
			_, err := addByHand(ctx, client, key, row)
			r.check("copy", err)
		})
	}
}

// The first process dies before it marks the copies that it leaves as they are, the second before it removes them.
func TestCopiesWithoutMarkersAreMarkedBeforeTheirViewIsListed(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, []string{"byName"})
		if err != nil {
			return err
		}
		h := jones()
		_, err = addByHand(ctx, c.own, h.key(), h.fields())
		h.copiesByHand(c.own, c.other, func(view string, client *aztables.Client, key keys.Key, row map[string]any) {
			if view == "byName" {
				_, failed := addByHand(ctx, client, key, row)
				err = errors.Join(err, failed)
			}
		})
		repairs, err1 := c.start(&process{})
		deletes, err2 := c.start(&process{})
		if err := errors.Join(err, err1, err2); err != nil {
			return err
		}
		afterCommit := func(_, path string) harness.Fate { return harness.Fate{Dies: strings.HasSuffix(path, "$batch")} }
		repairs.Decide, deletes.Decide = afterCommit, afterCommit
		_ = repairs.Repair(ctx, h.key())
		_ = deletes.Delete(ctx, h.key())
		if !repairs.Dead() || !deletes.Dead() {
			return errors.New("the processes did not die")
		}
		return errors.Join(c.recover(ctx), c.clean(ctx))
	})
	assert.Equal(t, err, nil)
}

func twoByHand(t testing.TB, own, other *aztables.Client) (ann, bob *hire) {
	ann = &hire{Dept: "Sales", ID: "1", Name: "Ann", Last: "Jones", Email: "a", Badge: "b1", Age: 30}
	bob = &hire{Dept: "Sales", ID: "2", Name: "Bob", Last: "Smith", Email: "b", Badge: "b2", Age: 40}
	hireByHand(t, own, other, ann)
	hireByHand(t, own, other, bob)
	return ann, bob
}

func TestATransactionAdoptsTheRowsOfAllItsEntities(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for what, change := range map[string]func(ann, bob *hire, batch *patterns.StoreBatch[hire]){
			"update": func(ann, bob *hire, batch *patterns.StoreBatch[hire]) {
				older := func(h *hire) error { h.Age++; return nil }
				batch.Update(ann.key(), older)
				batch.Update(bob.key(), older)
			},
			"move": func(ann, bob *hire, batch *patterns.StoreBatch[hire]) {
				batch.Update(ann.key(), func(h *hire) error { h.Name, h.Email, h.Badge = "Anne", "a2", "b3"; return nil })
				batch.Update(bob.key(), func(h *hire) error { h.Name, h.Email, h.Badge = "Bobby", "b2", "b4"; return nil })
			},
			"delete one": func(ann, bob *hire, batch *patterns.StoreBatch[hire]) {
				batch.Delete(ann.key())
				batch.Update(bob.key(), func(h *hire) error { h.Email = "a"; return nil })
			},
			"swap": func(ann, bob *hire, batch *patterns.StoreBatch[hire]) {
				batch.Update(ann.key(), func(h *hire) error { h.Email = bob.Email; return nil })
				batch.Update(bob.key(), func(h *hire) error { h.Email = ann.Email; return nil })
			},
		} {
			t.Run(what, func(t *testing.T) {
				s := newFullStore(t, b, func(_ context.Context, _ keys.Key, err error) { t.Error(err) })
				ann, bob := twoByHand(t, s.client, s.other)
				batch := s.Batch()
				change(ann, bob, batch)
				assert.NoError(t, assert.ErrorOf(batch.Commit(t.Context())))
				assert.NoError(t, verify(t.Context(), s.client, s.other, everyView, nil))
			})
		}
	})
}

// A row at the key of a copy that differs is another program's. The batch is refused as a whole.
func TestATransactionDoesNotSwapACopyThatDiffers(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFullStore(t, b, nil)
		ann, bob := twoByHand(t, s.client, s.other)
		byHand(t, s.client, keys.Key{Partition: "Sales", Row: "email_a"}, map[string]any{"Name": "Ann", "Age": 29})
		before := assert.Must(readTable(t.Context(), s.client))(t)
		batch := s.Batch()
		batch.Update(ann.key(), func(h *hire) error { h.Email = "b"; return nil })
		batch.Update(bob.key(), func(h *hire) error { h.Email = "a"; return nil })
		_, err := batch.Commit(t.Context())
		var dup *patterns.DuplicateError
		if !errors.As(err, &dup) || dup.View != "byEmail" {
			t.Errorf("%v", err)
		}
		after := assert.Must(readTable(t.Context(), s.client))(t)
		for key, row := range before {
			if show(row) != show(after[key]) {
				t.Errorf("%s: %v became %v", key, row, after[key])
			}
		}
	})
}

// A Store for which a view is building leaves copies that were written by hand alone, also in a
// transaction with an entity that lists the view. The next Store with the view adopts them.
func TestABuildingViewAdoptsNothing(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client, other, queue := t.Context(), b.Table(t), b.Table(t), &harness.OutboxQueue{}
		open := func(building ...string) *patterns.Store[hire] {
			return assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: allViews(other), Outbox: queue, Building: building}))(t)
		}
		building, full := open("byEmail", "byName"), open()
		ann, bob := twoByHand(t, client, other)
		cid := &hire{Dept: "Sales", ID: "3", Name: "Cid", Last: "Smith", Email: "c", Badge: "b5"}
		assert.Must(full.Insert(ctx, cid))(t)
		older := func(h *hire) error { h.Last = "Kwok"; return nil }
		both := func(s *patterns.Store[hire]) {
			t.Helper()
			batch := s.Batch()
			for _, h := range []*hire{ann, bob, cid} {
				batch.Update(h.key(), older)
			}
			assert.NoError(t, assert.ErrorOf(batch.Commit(ctx)))
		}
		both(building)
		rows := assert.Must(readTable(ctx, client))(t)
		if row := rows["Sales|email_a"]; row["azp_view"] != nil || row["Last"] != "Jones" {
			t.Errorf("the copy of an entity that does not list the view: %v", row)
		}
		if row := rows["Sales|email_c"]; row["Last"] != "Kwok" {
			t.Errorf("the copy of an entity that lists it: %v", row)
		}
		// The program that maintains the copies by hand brings them up to date.
		for _, h := range []*hire{ann, bob} {
			h.Last = "Kwok"
			byHand(t, client, keys.Key{Partition: h.Dept, Row: "email_" + h.Email}, h.fields())
			byHand(t, other, keys.Key{Partition: "name_" + h.Name, Row: h.Dept + "_" + h.ID}, h.fields())
		}
		older = func(h *hire) error { h.Age++; return nil }
		both(full)
		assert.NoError(t, verify(ctx, client, other, everyView, nil))
	})
}

// A program that replaces an entity by hand removes the list of its views. The next change by
// the Store then cannot know that the entity is counted in its own partition; elsewhere a mark
// shows it.
func TestAnEntityThatWasReplacedByHandIsCountedAgainOnlyInItsPartition(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		s := newFullStore(t, b, nil)
		h := jones()
		assert.Must(s.Insert(ctx, h))(t)
		h.Age++
		byHand(t, s.client, h.key(), h.fields())
		assert.Must(s.Update(ctx, h.key(), func(h *hire) error { h.Age++; return nil }))(t)
		rows := assert.Must(readTable(ctx, s.client))(t)
		if here, all := rows["Sales|department"], rows["company|all"]; here["Count"] != 2.0 || all["Count"] != "1" || all["Years"] != "36" {
			t.Errorf("in the partition %v, elsewhere %v", here, all)
		}
	})
}

// The slim copies of two entities of one name and badge are equal, so a copy without a marker
// does not show whose it is.
func TestACopyOfAnotherEntityIsNotAdoptedBecauseItIsEqual(t *testing.T) {
	slim := patterns.ViewOf("byEmail", patterns.Shape{}, func(h *hire) ([]patterns.DerivedRow, error) {
		return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: h.Dept, Row: "email_" + h.Email}, patterns.CopySpec{Only: []string{"Name"}})}, nil
	})
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for name, v := range map[string]patterns.View[hire]{"local": slim, "remote": byBadge()} {
			ctx, client := t.Context(), b.Table(t)
			s := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{v}, Outbox: &harness.OutboxQueue{}}))(t)
			ann, other := jones(), jones()
			other.ID = "2"
			byHand(t, client, ann.key(), ann.fields())
			at := keys.Key{Partition: "badge", Row: ann.Badge}
			row := map[string]any{"Name": ann.Name, "Badge": ann.Badge}
			if name == "local" {
				at = keys.Key{Partition: ann.Dept, Row: "email_" + ann.Email}
				delete(row, "Badge")
			}
			byHand(t, client, at, row)
			_, err := s.Insert(ctx, other)
			if !errors.As(err, new(*patterns.DuplicateError)) {
				t.Errorf("%s: %v", name, err)
			}
			assert.Must(s.Update(ctx, ann.key(), func(h *hire) error { h.Age++; return nil }))(t)
			rows := assert.Must(readTable(ctx, client))(t)
			if got := rows[at.Partition+"|"+at.Row]; got["azp_rk"] != ann.key().Row {
				t.Errorf("%s: %v", name, got)
			}
		}
	})
}
