package reindex_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// big is an entity of which a partition has more than fit on a page.
type big struct {
	PartitionKey, RowKey string
	Email                string
	N                    int64
}

// newBig stores n entities in each partition, with copies that sort before all of them.
func newBig(t testing.TB, b *harness.Backend, partitions, n int) (*world, *patterns.Store[big]) {
	w := &world{people: b.Table(t), b: b}
	w.fillBig(t, partitions, n)
	return w, openBig(t, w.people)
}

func openBig(t testing.TB, client *aztables.Client) *patterns.Store[big] {
	t.Helper()
	index := secondaryindex.Intra("email", func(e *big) (string, bool) { return e.Email, true }, nil)
	return harness.NewStore(t, client, &patterns.StoreOptions[big]{Views: []patterns.View[big]{index}})
}

func (w *world) fillBig(t testing.TB, partitions, n int) {
	t.Helper()
	var rows []row
	for p := range partitions {
		for i := range n {
			pk, rk, email := fmt.Sprintf("p%d", p), fmt.Sprintf("id_%05d", i), fmt.Sprintf("m%05d", i*7919%n)
			own := row{"Email": email, "N@odata.type": "Edm.Int64", "N": fmt.Sprint(i)}
			copied := at(keys.Key{Partition: pk, Row: "email_" + email}, own)
			copied["azp_pk"], copied["azp_rk"], copied["azp_view"] = pk, rk, "email"
			rows = append(rows, at(keys.Key{Partition: pk, Row: rk}, own), copied)
		}
	}
	plant(t, w.people, rows)
}

// A finding in every n-th entity, of each kind that a copy can have.
func (w *world) damageBig(t testing.TB, partitions, n, every int) (planted int) {
	t.Helper()
	for p := range partitions {
		for i := 0; i < n; i += every {
			pk, email := fmt.Sprintf("p%d", p), fmt.Sprintf("m%05d", i*7919%n)
			k := keys.Key{Partition: pk, Row: "email_" + email}
			planted++
			switch i / every % 3 {
			case 0:
				assert.NoError(t, assert.ErrorOf(w.people.DeleteEntity(t.Context(), k.Partition, k.Row, nil)))
			case 1:
				plant(t, w.people, []row{at(k, row{"Email": email, "azp_pk": pk, "azp_rk": fmt.Sprintf("id_%05d", i), "azp_view": "email"})})
			default:
				k.Row += "x"
				plant(t, w.people, []row{at(k, row{"Email": email, "azp_pk": pk, "azp_rk": fmt.Sprintf("id_x%05d", i), "azp_view": "email"})})
			}
		}
	}
	if w.b != nil {
		w.b.ResetRequests()
	}
	return planted
}

// maxSkew is the documented time before the scan within which a change takes a second read.
const maxSkew = time.Minute

// A request confirms all findings of a page. If the pages of a partition are several, and both rows of a finding were changed a minute
// before the scan or later, they are read twice.
func TestLocalFindingsAreConfirmedTogether(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		for _, c := range []struct {
			partitions, n, every, want, pages, requests int
			age                                         time.Duration
		}{
			{4, 400, 10, 160, 4, 4, 0},
			{4, 400, 10, 160, 4, 4, time.Hour},
			{2, 2100, 35, 120, 10, 20, 0},
			{2, 2100, 35, 120, 10, 10, maxSkew + 2*time.Second},
			{1, 700, 1, 700, 2, 4, maxSkew - time.Second},
			{1, 700, 1, 700, 2, 2, maxSkew + 2*time.Second},
			{3, 700, 100, 21, 6, 3, 0},
		} {
			w, s := newBig(t, b, c.partitions, c.n)
			planted := w.damageBig(t, c.partitions, c.n, c.every)
			time.Sleep(c.age)
			var last reindex.Report
			found := assert.All(t, reindex.Verify(t.Context(), s, "", &reindex.Options{Report: &last}))
			assert.Equal(assert.Now(t), len(found), planted)
			assert.Equal(t, planted, c.want)
			sent := len(b.Requests())
			t.Logf("%d findings in %d partitions of %d rows: %d requests", planted, c.partitions, 2*c.n, last.Requests.Confirm)
			if last.Requests.Confirm != c.requests || c.age > maxSkew && c.requests > c.pages || sent != last.Requests.Scan+last.Requests.Confirm {
				t.Errorf("%+v: %+v, %d sent", c, last.Requests, sent)
			}
		}
	})
}

// beforePages calls scan and confirm before each request for a page, with its number.
type beforePages struct {
	policy.Transporter
	scan, confirm func(page int)
	pages         [2]int
}

func (b *beforePages) Do(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet {
		call, n := b.scan, &b.pages[0]
		if strings.Contains(req.URL.Query().Get("$filter"), "PartitionKey eq") {
			call, n = b.confirm, &b.pages[1]
		}
		*n++
		call(*n)
	}
	return b.Transporter.Do(req)
}

// Three entities are changed between the pages of the scan, which makes their rows differ, and
// before each of the pages that confirm them, also when these are read again, some are changed and some
// are changed back: one in place, one by a delete, and one has another copy. Each of sixteen cases
// changes them before other pages, and their rows are then between a second and minutes old. The others, which are findings, are new in
// half of the runs, and have not changed since the scan began in the other half.
func TestARowThatChangesBetweenTwoPagesIsNoFinding(t *testing.T) {
	sample := harness.Sample(t, 3)
	for number := range 32 {
		if !sample(number) {
			continue
		}
		changed, old := number%16, number >= 16
		synctest.Test(t, func(t *testing.T) {
			const n = 700
			a := storagetest.Start(nil)
			harness.WithoutTargets(a)
			client := a.Tables().NewClient("people")
			assert.Must(client.CreateTable(t.Context(), nil))(t)
			w := &world{people: client}
			w.fillBig(t, 1, n)
			planted := w.damageBig(t, 1, n, 2)

			most := 6
			if old {
				time.Sleep(maxSkew + time.Second)
				most = 4
			}
			s := openBig(t, client)
			key := func(i int) keys.Key { return keys.Key{Partition: "p0", Row: fmt.Sprintf("id_%05d", i)} }
			update := func(i int, change func(e *big)) {
				assert.Must(s.Update(t.Context(), key(i), func(e *big) error { change(e); return nil }))(t)
			}
			deleted, isDeleted := assert.Must(s.Get(t.Context(), key(603)))(t).Value, false
			changeAll := func() {
				time.Sleep(time.Second << (changed % 8))
				update(601, func(e *big) { e.N ^= 1 })
				update(605, func(e *big) {
					if !strings.HasSuffix(e.Email, "x") {
						e.Email += "xx"
					}
					e.Email = e.Email[:len(e.Email)-1]
				})
				if isDeleted = !isDeleted; isDeleted {
					assert.NoError(t, s.Delete(t.Context(), key(603)))
				} else {
					assert.Must(s.Insert(t.Context(), &deleted))(t)
				}
			}
			p := &beforePages{Transporter: a.Transport(), scan: func(page int) {
				if page == 2 {
					changeAll()
				}
			}, confirm: func(page int) {
				if page <= 4 && changed>>(page-1)&1 > 0 {
					changeAll()
				}
			}}
			service := assert.Must((&harness.Process{Inner: p}).Tables(true, 1))(t)
			all := assert.All(t, reindex.Verify(t.Context(), openBig(t, service.NewClient("people")), "", &reindex.Options{Parallel: 1}))
			for _, f := range all {
				if i := strings.TrimPrefix(f.Primary.Row, "id_"); i == "00601" || i == "00603" || i == "00605" {
					t.Errorf("changed before the pages %04b: no finding: %+v", changed, f)
				}
			}
			if len(all) != planted || p.pages[1] > most {
				t.Errorf("changed before the pages %04b: %d findings of %d, %d pages", changed, len(all), planted, p.pages)
			}
		})
	}
}
