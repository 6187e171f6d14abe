package table

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// A request that looked up its table before another request deleted it must not treat the
// table as empty.
func TestADeletedTableIsNotReadAsEmpty(t *testing.T) {
	a := newAPI(t)
	found, err := a.s.lookup("T12", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	a.want(204, "", a.do("DELETE", "/Tables('T12')", ""))
	looked := false
	if err := a.s.read(found, time.Now(), func() { looked = true }); err != errTableDeleting || looked {
		t.Errorf("%v, looked %v", err, looked)
	}
	w := write{op: op.TableUpsertReplace, partition: "p", row: "r"}
	if _, _, err := a.s.runAll(found, []write{w}, time.Now()); err != errTableDeleting {
		t.Errorf("a batch: %v", err)
	}
}

// For any order of concurrent requests, a name is blocked from the time of its deletion on.
func TestATableIsCreatedOnceWhileItsNameIsBlocked(t *testing.T) {
	for range 300 {
		s := New(request.Page{})
		var made, dropped atomic.Int32
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 5 {
					if s.create("people", time.Now()) == nil {
						made.Add(1)
					}
					if s.drop("people", time.Now()) == nil {
						dropped.Add(1)
					}
				}
			})
		}
		all.Wait()
		assert.Equal(assert.Now(t), made.Load(), 1)
		assert.Equal(assert.Now(t), dropped.Load(), 1)
	}
}
