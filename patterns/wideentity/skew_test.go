package wideentity_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// The clock of the sweeper is two hours behind that of the service, or two hours ahead.
func TestASweeperWithAWrongClockLeavesAWriteInProgressAndDeletesAnAbandonedOne(t *testing.T) {
	for _, skew := range []time.Duration{-2 * time.Hour, 2 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			acct := storagetest.Start(&storagetest.Options{ClockSkew: skew})
			const name = "Wide"
			other := open[properties](t, harness.Open(t, acct.ConnectionString(), name, true, acct.Transport()), nil)
			assert.NoError(t, other.Create(t.Context()))
			posts, most := 0, 1<<30 // transactions, and how many are sent
			table := open[properties](t, harness.Open(t, acct.ConnectionString(), name, true, harness.Transport(func(req *http.Request) (*http.Response, error) {
				if req.Method == http.MethodPost {
					if posts++; posts > most {
						return nil, errors.New("connection lost")
					}
				}
				resp, err := acct.Transport().Do(req)
				if r, serr := other.Sweep(t.Context(), nil); serr != nil || r.Done != 0 {
					t.Errorf("skew %v: swept %d rows of a write in progress: %v", skew, r.Done, serr)
				}
				return resp, err
			})), nil)
			wideentity.SetBatchBytes(table, smallBatch)
			v := large("x")
			assert.Must(table.Insert(t.Context(), &v))(t)
			wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, v)

			posts, most = 0, 2 // abandon the next write after its marker and first parts
			if _, err := table.Put(t.Context(), &v); err == nil {
				t.Fatal("the write was not abandoned")
			}
			time.Sleep(50 * time.Minute)
			young := assert.Must(other.Sweep(t.Context(), nil))(t)
			if young.Done != 0 || young.Skipped < 2 {
				t.Errorf("skew %v: after 50 minutes: %+v", skew, young)
			}
			time.Sleep(15 * time.Minute)
			if r := assert.Must(other.Sweep(t.Context(), nil))(t); r.Done != young.Skipped || r.Skipped != 0 {
				t.Errorf("skew %v: after 65 minutes: %+v", skew, r)
			}
			wantProperties(t, assert.Must(other.Get(t.Context(), year))(t).Value, v)
		})
	}
}
