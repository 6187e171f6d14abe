package storagetest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// dates records the header Date of every reply.
type dates struct {
	inner policy.Transporter
	seen  []string
}

func (d *dates) Do(req *http.Request) (*http.Response, error) {
	res, err := d.inner.Do(req)
	if err == nil {
		d.seen = append(d.seen, res.Header.Get("Date"))
	}
	return res, err
}

func TestEveryTimeOfTheAccountIsByItsOwnClock(t *testing.T) {
	for _, skew := range []time.Duration{-2 * time.Hour, time.Second, 2 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			acct := storagetest.Start(&storagetest.Options{ClockSkew: skew})
			now := func() time.Time { return time.Now().Add(skew) }
			people := table(t, acct, "people")
			jobs, box := acct.Queue("jobs"), acct.Container("box")
			assert.NoError(t, assert.ErrorOf(jobs.Create(ctx, nil)))
			assert.NoError(t, assert.ErrorOf(box.Create(ctx, nil)))

			added := assert.Must(people.AddEntity(ctx, entity(t, "p", "r"), nil))(t)
			var row struct{ Timestamp time.Time }
			if err := json.Unmarshal(added.Value, &row); err != nil || !row.Timestamp.Equal(now()) || !strings.Contains(string(added.ETag), now().UTC().Format("2006-01-02T15")) {
				t.Errorf("skew %v: %s %s %v", skew, added.Value, added.ETag, err)
			}
			blob, err := box.NewBlockBlobClient("b").UploadBuffer(ctx, []byte("x"), nil)
			if err != nil || !blob.LastModified.Equal(now()) || !blob.Date.Equal(now()) {
				t.Errorf("skew %v: %v %v", skew, blob.LastModified, err)
			}
			sent, err := jobs.EnqueueMessage(ctx, "pay", &azqueue.EnqueueMessageOptions{VisibilityTimeout: to.Ptr[int32](60)})
			if m := sent.Messages[0]; err != nil || !m.InsertionTime.Equal(now()) || !m.TimeNextVisible.Equal(now().Add(time.Minute)) {
				t.Errorf("skew %v: %+v %v", skew, m, err)
			}
			// Time passes as fast as here.
			time.Sleep(59 * time.Second)
			assert.Equal(t, len(assert.Must(jobs.DequeueMessage(ctx, nil))(t).Messages), 0)
			time.Sleep(time.Second)
			assert.Equal(t, len(assert.Must(jobs.DequeueMessage(ctx, nil))(t).Messages), 1)
		})
	}
}

func TestEveryReplyHasTheDateOfTheAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.Start(&storagetest.Options{ClockSkew: 3 * time.Hour})
		d := &dates{inner: acct.Transport()}
		var opts aztables.ClientOptions
		opts.Transport = d
		cred := assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)
		tables := assert.Must(aztables.NewServiceClientWithSharedKey(storagetest.TablesURL, cred, &opts))(t)
		acct.Fault(storagetest.On("*").Nth(1).Status(503, "ServerBusy"))
		for range 2 { // refused by the rule, carried out, refused by the service
			_, _ = tables.CreateTable(t.Context(), "people", nil)
		}
		bad, err := aztables.NewServiceClientWithNoCredential(storagetest.TablesURL, &opts)
		assert.NoError(t, err)
		_, err = bad.CreateTable(t.Context(), "people", nil)
		if err == nil || len(d.seen) != 4 {
			t.Fatalf("%v, %d replies", err, len(d.seen))
		}
		for i, date := range d.seen {
			at, err := http.ParseTime(date)
			if ahead := time.Until(at); err != nil || ahead < 2*time.Hour+59*time.Minute || ahead > 3*time.Hour {
				t.Errorf("reply %d: Date %s, %v ahead, %v", i, date, ahead, err)
			}
		}
	})
}
