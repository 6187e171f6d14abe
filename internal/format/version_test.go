package format_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
)

// newest returns the newest record of a group.
func newest(t *testing.T, name string) *record {
	t.Helper()
	i := slices.IndexFunc(groups, func(g group) bool { return g.name == name })
	return groups[i].load(t, groups[i].versions())
}

// What has a version that this one does not know is refused, and nothing of it is changed or deleted.
func TestALaterVersionIsRefusedAndStays(t *testing.T) {
	for name, test := range map[string]func(*world){
		"message": func(w *world) {
			w.load(newest(t, "message"))
			r := w.record()
			for i, text := range r.Queues["jobs"] {
				b, err := base64.StdEncoding.DecodeString(text)
				w.must(err)
				r.Queues["jobs"][i] = base64.StdEncoding.EncodeToString(bytes.Replace(b, []byte(`"azp":1`), []byte(`"azp":2`), 1))
			}
			w.load(&record{Queues: r.Queues})
			w.run("jobs", &eventual.Options{Poison: w.queue("poison")}, func(worker *eventual.Worker) {
				eventual.Handle(worker, "letter.send", func(context.Context, eventual.Job[letter]) error {
					w.Error("a handler was called")
					return nil
				})
			})
			after := w.record()
			w.equal(len(after.Queues["poison"]), len(r.Queues["jobs"]))
			w.equal(len(after.Blobs["payloads"]), 1)
		},
		"outbox row": func(w *world) {
			r := newest(t, "operation-committed")
			for _, row := range r.Tables["people"] {
				if row["azp_outbox"] != nil {
					row["azp_outbox"] = 2
				}
			}
			w.load(r)
			w.work(newPeople(w), 10*time.Minute)
			after := w.record()
			w.equal(len(after.Queues["outbox"]), 1)
			w.equal(rowsWith(after, "azp_outbox", 2.0), 1)
			w.equal(rowsWith(after, "azp_state", "reserved"), 1)
		},
		"references": func(w *world) {
			r := newest(t, "large")
			for _, row := range r.Tables["candidates"] {
				row["azp_blobs"] = strings.Replace(row["azp_blobs"].(string), `"version":1`, `"version":2`, 1)
			}
			w.load(r)
			table := w.candidates(largeentity.Options[candidate]{})
			_, err := table.Get(w.Context(), employeeKey("1"))
			w.is(err, largeentity.ErrCorrupt)
			time.Sleep(48 * time.Hour)
			for range 2 {
				_, err = table.Sweep(w.Context(), nil)
				w.is(err, largeentity.ErrCorrupt)
				time.Sleep(48 * time.Hour)
			}
			w.equal(w.record().Blobs, r.Blobs)
		},
		"heat": func(w *world) {
			text := strings.Replace(newest(t, "heat").Texts["snapshot"], `"version":1`, `"version":2`, 1)
			_, err := heat.Load(strings.NewReader(text), nil)
			w.is(err, heat.ErrSnapshot)
		},
		"cursor": func(w *world) {
			r := newest(t, "cursor")
			w.load(r)
			table, err := patterns.NewTable[employee](w.table("people"), nil)
			w.must(err)
			b, err := base64.RawURLEncoding.DecodeString(r.Texts["page"])
			w.must(err)
			b[0] = 2
			_, err = table.Page(w.Context(), entities, base64.RawURLEncoding.EncodeToString(b), two)
			w.is(err, patterns.ErrBadCursor)
		},
		"encryption": func(w *world) {
			r := newest(t, "encryption")
			row := r.Tables["secrets"][0]
			b, err := base64.StdEncoding.DecodeString(row["Email"].(string))
			w.must(err)
			b[0] = 2
			row["Email"] = base64.StdEncoding.EncodeToString(b)
			w.load(r)
			_, err = w.secrets(7).Get(w.Context(), employeeKey("1"))
			w.is(err, patterns.ErrSealed)
			w.equal(w.record().Tables["secrets"][0]["Email"], row["Email"])
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(newWorld(t)) })
		})
	}
}

// is fails if err does not match target.
func (w *world) is(err, target error) {
	w.Helper()
	if !errors.Is(err, target) {
		w.Errorf("error %v, want %v", err, target)
	}
}

// rowsWith returns the number of rows of people that have this value.
func rowsWith(r *record, property string, value any) (n int) {
	for _, row := range r.Tables["people"] {
		if fmt.Sprint(row[property]) == fmt.Sprint(value) {
			n++
		}
	}
	return n
}

// Formats without a version may get further properties. A version that does not know them keeps them when it changes the row.
// Copies and marks are not among these: they are written as a whole, from what their primary is.
func TestPropertiesOfALaterVersionStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := newest(t, "operation-committed")
		for _, row := range r.Tables["people"] {
			row["azp_later"] = "1"
		}
		w.load(r)
		store := newPeople(w)
		w.work(store, 10*time.Minute)
		_, err := store.Update(w.Context(), employeeKey("2"), func(e *employee) error { e.Badge, e.City = 9, "Rome"; return nil })
		w.must(err)
		after := w.record()
		w.equal(rowsWith(after, "azp_state", "done"), 1) // the outbox row was changed
		w.equal(w.property("people", employeeKey("2"), "Badge"), any(9.0))
		kept := 0
		for _, row := range after.Tables["people"] {
			switch {
			case row["azp_view"] == nil, row["RowKey"] == "Oslo":
				kept++
				if row["azp_later"] == nil {
					w.Errorf("row %s has lost a property", rowShape(row))
				}
			}
		}
		w.equal(kept, 10)
	})
}
