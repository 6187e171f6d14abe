package harness

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
)

// WantRequests checks that the requests since the last check were those of want, the number of each operation, and no
// others.
func (b *Backend) WantRequests(t testing.TB, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	for _, r := range b.Requests() {
		got[r.Op]++
	}
	for op, n := range want {
		if n == 0 && got[op] == 0 {
			got[op] = 0 // explicitly none
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("requests %v, want %v:\n%v", got, want, b.Requests())
	}
	b.ResetRequests()
}

// WantRequestCount checks the number of requests since the last check.
func (b *Backend) WantRequestCount(t testing.TB, want int) {
	t.Helper()
	if got := len(b.Requests()); got != want {
		t.Errorf("%d requests, want %d:\n%v", got, want, b.Requests())
	}
	b.ResetRequests()
}

// WantOps checks the operations of the requests since the last check, in order.
func (b *Backend) WantOps(t testing.TB, want ...string) {
	t.Helper()
	if got := b.Requests().Ops(); !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
	b.ResetRequests()
}

// WantCreate checks the Create method that open returns for a table that does not exist: it
// creates the table, accepts one that exists, and makes one request each time.
func (b *Backend) WantCreate(t testing.TB, open func(*aztables.Client) func(context.Context) error) {
	t.Helper()
	client := b.Service(t).NewClient(UniqueName())
	create := open(client)
	for range 2 {
		b.ResetRequests()
		assert.NoError(t, create(t.Context()))
		b.WantOps(t, "Table.CreateTable")
	}
	assert.NoError(t, assert.ErrorOf(client.Delete(t.Context(), nil)))
}

// InVirtualTime runs body on the in-process account in both modes, in a synctest bubble. The test fails if a goroutine is
// still running when body returns.
func InVirtualTime(t *testing.T, body func(t *testing.T, b *Backend)) {
	t.Helper()
	RunInProcess(t, func(t *testing.T, b *Backend) {
		synctest.Test(t, func(t *testing.T) { body(t, b) })
	})
}
