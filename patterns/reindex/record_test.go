package reindex_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// A worker completes an insert whose writer is slow: its insert of a row elsewhere arrives after
// the person was deleted. The record of the insert, which is done, is what removes the row again
// if the writer does not. So the row is no finding, whether the writer goes on or has died.
func TestARowThatTheRecordOfACompletedOperationCorrectsIsNotAFinding(t *testing.T) {
	for _, dies := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a := account(t)
			queue := new(countedQueue)
			w := start(t, &harness.Process{Inner: a.Transport()}, queue)
			verify := func() reindex.Report {
				r := assert.Must(reindex.Repair(t.Context(), w.Store, "", &reindex.Options{DryRun: true}))(t)
				if n := r.Missing + r.Wrong + r.Orphan + r.Duplicate; n > 0 {
					t.Errorf("the writer dies: %v: %d findings", dies, n)
				}
				return r
			}
			slow := &harness.Process{}
			slow.Inner = harness.Transport(func(req *http.Request) (*http.Response, error) {
				if req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, "/people") { // of the list
					return a.Transport().Do(req)
				}
				queue.ShowFirst()
				if ok, err := queue.WorkOne(t.Context(), w, time.Minute); !ok || err != nil {
					t.Errorf("the worker: %v, %v", ok, err)
				}
				assert.NoError(t, w.Delete(t.Context(), personOf(1).key()))
				res, err := a.Transport().Do(req)
				assert.Equal(t, verify().Undecided, 1, "the writer dies", dies, "rows undecided")
				if dies {
					slow.Kill()
					return nil, harness.ErrDead
				}
				return res, err
			})
			_, err := start(t, slow, queue).Insert(t.Context(), personOf(1))
			if !dies {
				assert.NoError(t, err)
			}
			verify()
			w.complete(t)
			if n := len(w.content(t)); n != 0 || verify().Undecided != 0 {
				t.Errorf("the writer dies: %v: %d rows remain", dies, n)
			}
		})
	}
}
