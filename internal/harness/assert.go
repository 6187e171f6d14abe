package harness

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
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
		NoError(t, create(t.Context()))
		b.WantOps(t, "Table.CreateTable")
	}
	NoError(t, ErrorOf(client.Delete(t.Context(), nil)))
}

// InVirtualTime runs body on the in-process account in both modes, in a synctest bubble. The test fails if a goroutine is
// still running when body returns.
func InVirtualTime(t *testing.T, body func(t *testing.T, b *Backend)) {
	t.Helper()
	RunInProcess(t, func(t *testing.T, b *Backend) {
		synctest.Test(t, func(t *testing.T) { body(t, b) })
	})
}

// NoError ends the test if err is not nil.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%+v", err)
	}
}

// Must returns the result of a call that must succeed: Must(table.Get(ctx, key))(t).
func Must[R any](r R, err error) func(testing.TB) R {
	return func(t testing.TB) R {
		t.Helper()
		NoError(t, err)
		return r
	}
}

// WantError checks that err is target.
func WantError(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("got error %v, want %v", err, target)
	}
}

// WantHidden checks that the message of err, which may be logged, contains none of the secrets. A nil err passes.
func WantHidden(t testing.TB, err error, secrets ...string) {
	t.Helper()
	if err == nil {
		return
	}
	for _, s := range secrets {
		if strings.Contains(err.Error(), s) {
			t.Errorf("the message %q contains %q", err, s)
		}
	}
}

// ErrorOf returns the error of a call: ErrorOf(table.Insert(ctx, &v)).
func ErrorOf[R any](_ R, err error) error { return err }

// MayFail ignores the result of a call that fails in some cases of a test: MayFail(table.Insert(ctx, &v)).
func MayFail[R any](R, error) {}

// All returns the values of a sequence that must not end with an error.
func All[V any](t testing.TB, seq iter.Seq2[V, error]) []V {
	t.Helper()
	var all []V
	for v, err := range seq {
		NoError(t, err)
		all = append(all, v)
	}
	return all
}

// Failure returns the error of a sequence that must end with one, and immediately after it. Values may precede it.
func Failure[V any](t testing.TB, seq iter.Seq2[V, error]) error {
	t.Helper()
	var failed error
	for _, err := range seq {
		if failed != nil {
			t.Fatal("the sequence continues after an error")
		}
		failed = err
	}
	if failed == nil {
		t.Fatal("no error")
	}
	return failed
}
