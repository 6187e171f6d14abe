package fetch_test

import (
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// onCosmos returns a client of acct that has the address of a Cosmos DB account.
func onCosmos(t testing.TB, acct *storagetest.Account) *aztables.ServiceClient {
	t.Helper()
	cred := assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)
	opts := &aztables.ClientOptions{}
	opts.Transport = readdressed{acct.Transport(), storagetest.AccountName + ".table.storagetest.invalid"}
	patterns.Accelerate(&opts.ClientOptions)
	client := assert.Must(aztables.NewServiceClientWithSharedKey("https://"+storagetest.AccountName+".table.cosmos.azure.com", cred, opts))(t)
	return client
}

// readdressed sends all requests to host.
type readdressed struct {
	to   policy.Transporter
	host string
}

func (r readdressed) Do(req *http.Request) (*http.Response, error) {
	moved := req.Clone(req.Context())
	moved.URL.Host, moved.Host = r.host, r.host
	res, err := r.to.Do(moved)
	if res != nil {
		res.Request = req
	}
	return res, err
}

func TestAnOrderedQueryIsRefusedOnCosmosDB(t *testing.T) {
	acct := storagetest.New(t)
	fillTable(t, acct, distributions["digits in one partition"](nil, 3))
	table := harness.NewTable[mark](t, onCosmos(t, acct).NewClient("Marks"), nil)
	ordered := &patterns.QueryOptions{Ordered: true}
	f := query.PartitionKey.Eq("p")
	for range 2 { // before the address is known, and after
		n := 0
		for item, err := range table.Query(t.Context(), f, ordered) {
			n++
			if assert.WantError(t, err, patterns.ErrUnordered); item.Key != (keys.Key{}) {
				t.Error("a row with an error")
			}
		}
		assert.Equal(t, n, 1, "pairs")
		page, err := table.Page(t.Context(), f, "", ordered)
		if assert.WantError(t, err, patterns.ErrUnordered); len(page.Items) > 0 {
			t.Error("rows with an error")
		}
	}
	assert.Equal(t, len(acct.Log()), 1, "requests, want the one whose response contains the address")
	assert.Equal(t, len(assert.All(t, table.Query(t.Context(), f, nil))), 3, "rows without Ordered")
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		harness.Insert(t, table, harness.NewPerson("ann"))
		assert.Equal(t, len(assert.All(t, table.Query(t.Context(), query.PartitionKey.Eq("sales"), ordered))), 1, "rows of Azure Storage")
	})
}

// Results of Cosmos DB have no order, so a key does not limit those of later rows.
func TestScanDoesNotDivideSegmentsOnCosmosDB(t *testing.T) {
	acct := storagetest.New(t)
	ks := distributions["uuids"](rand.New(rand.NewPCG(1, 2)), 1000)
	fillTable(t, acct, ks)
	table := harness.NewTable[mark](t, onCosmos(t, acct).NewClient("Marks"), nil)
	got := make(map[keys.Key]int)
	for page, err := range table.Scan(t.Context(), query.Filter{}, "", &patterns.QueryOptions{PageSize: 50}) {
		assert.NoError(t, err)
		for _, item := range page.Items {
			got[item.Key]++
		}
	}
	assert.Equal(assert.Now(t), len(got), len(ks))
	assert.Equal(t, sum(got), len(ks))
	if n := acct.Log().Count("Table.Query"); n != 20 && n != 21 {
		t.Errorf("%d requests for 20 pages", n)
	}
}
