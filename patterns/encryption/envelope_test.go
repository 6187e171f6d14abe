package encryption_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/encryption"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// box is a wrapping key whose errors quote the key.
type box struct {
	broken  bool
	short   int
	unwraps atomic.Int32
}

func (b *box) Wrap(_ context.Context, key []byte) ([]byte, error) { return b.flip(key) }

func (b *box) Unwrap(_ context.Context, wrapped []byte) ([]byte, error) {
	b.unwraps.Add(1)
	return b.flip(wrapped[b.short:])
}

func (b *box) flip(key []byte) ([]byte, error) {
	if b.broken {
		return nil, fmt.Errorf("canary: cannot process %x", key)
	}
	other := bytes.Clone(key)
	for i := range other {
		other[i] ^= 0xaa
	}
	return other, nil
}

func envelope(t testing.TB, client *aztables.Client) *encryption.Envelope {
	return assert.Must(encryption.NewEnvelope(client, new(box), nil))(t)
}

func currentOf(e *encryption.Envelope) string {
	id, key := e.Current()
	return id + string(key)
}

// storedKeys is the number of keys in the table.
func storedKeys(t testing.TB, client *aztables.Client) int {
	rows := harness.NewTable[patterns.Row](t, client, nil)
	return len(assert.All(t, rows.Query(t.Context(), query.PartitionKey.Eq("keys"), nil)))
}

func TestProgramsThatStartTogetherHaveOneFirstKey(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		programs := make([]*encryption.Envelope, 8)
		var all sync.WaitGroup
		for i := range programs {
			programs[i] = envelope(t, client)
			id, key := programs[i].Current()
			assert.Equal(t, id+string(key), "", "before Load")
			all.Go(func() { assert.NoError(t, programs[i].Load(t.Context())) })
		}
		all.Wait()
		for _, e := range programs {
			assert.Equal(t, currentOf(e), currentOf(programs[0]))
		}
		assert.Equal(t, storedKeys(t, client), 1)
		first := b.Table(t)
		b.ResetRequests()
		assert.NoError(t, envelope(t, first).Load(t.Context()))
		b.WantRequests(t, map[string]int{"Table.Query": 2, "Table.Insert": 1})
		b.ResetRequests()
		assert.NoError(t, envelope(t, first).Load(t.Context()))
		b.WantRequests(t, map[string]int{"Table.Query": 1})
	})
}

// A new key is the current one of all programs only after all had the time to load it, and old values open with it and without it.
func TestANewKeyIsKnownEverywhereBeforeItIsUsed(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		e, other := envelope(t, client), envelope(t, client)
		assert.NoError(t, e.Load(ctx))
		assert.NoError(t, other.Load(ctx))
		old := currentOf(e)
		var all sync.WaitGroup
		for _, program := range []*encryption.Envelope{e, e, other} {
			all.Go(func() { assert.NoError(t, program.Rotate(ctx)) })
		}
		all.Wait()
		assert.NoError(t, e.Rotate(ctx)) // one is on its way
		assert.Equal(t, storedKeys(t, client), 2)
		time.Sleep(59 * time.Minute)
		assert.NoError(t, e.Load(ctx))
		assert.Equal(t, currentOf(e), old)
		time.Sleep(2 * time.Minute)
		assert.NoError(t, e.Load(ctx))
		id, key := e.Current()
		assert.Equal(t, id, "00000002")
		assert.Equal(t, currentOf(other), old) // has not loaded since, but knows the key
		known, ok := other.Key(id)
		assert.Equal(t, string(known), string(key))
		assert.Equal(t, ok, true)
		assert.NoError(t, e.Rotate(ctx))
		assert.Equal(t, storedKeys(t, client), 3)

		// The old key is deleted.
		rows := harness.NewTable[patterns.Row](t, client, nil)
		for _, row := range assert.All(t, rows.Query(ctx, query.And(query.PartitionKey.Eq("keys"), query.RowKey.Eq("00000001")), nil)) {
			assert.NoError(t, rows.Delete(ctx, row.Key, row.ETag))
		}
		assert.NoError(t, e.Load(ctx))
		_, ok = e.Key("00000001")
		assert.Equal(t, ok, false)
		assert.Equal(t, currentOf(e), id+string(key))
	})
}

// A program that dies at any request, also if the request arrives later, leaves keys with which all others agree.
func TestTheDeathOfAProgramLosesNoKey(t *testing.T) {
	open := func(a *storagetest.Account) *aztables.Client {
		return a.TablesWith(harness.Accelerated()).NewClient("keys")
	}
	for _, rotate := range []bool{false, true} {
		storagetest.CrashPoints(t, func(ctx context.Context, a *storagetest.Account) error {
			e, err := encryption.NewEnvelope(open(a), new(box), nil)
			if err == nil {
				err = e.Create(ctx)
			}
			if err == nil && rotate {
				err = e.Load(ctx)
			}
			a.Arm()
			switch {
			case err != nil:
				return err
			case rotate:
				return e.Rotate(ctx)
			}
			return e.Load(ctx)
		}, func(t *testing.T, a *storagetest.Account) {
			first, second := envelope(t, open(a)), envelope(t, open(a))
			assert.NoError(t, first.Load(t.Context()))
			if rotate {
				assert.NoError(t, first.Rotate(t.Context()))
			}
			assert.NoError(t, second.Load(t.Context()))
			for _, id := range []string{"00000001", "00000002"} {
				key, ok := first.Key(id)
				again, known := second.Key(id)
				assert.Equal(t, string(key), string(again))
				assert.Equal(t, ok && known, ok || known)
			}
			assert.Equal(t, currentOf(first), currentOf(second))
			want := 1
			if rotate {
				want = 2
			}
			assert.Equal(t, storedKeys(t, open(a)), want)
		})
	}
}

// After a failure the keys are those of before, each key is unwrapped once, and no text contains one.
func TestAnEnvelopeThatCannotUnwrapKeepsItsKeysAndHidesThem(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		wrapping := new(box)
		e := assert.Must(encryption.NewEnvelope(client, wrapping, nil))(t)
		assert.NoError(t, e.Load(ctx))
		before := currentOf(e)
		assert.NoError(t, envelope(t, client).Rotate(ctx))
		for _, bad := range []*box{{broken: true}, {short: 1}} {
			wrapping.broken, wrapping.short = bad.broken, bad.short
			err := e.Load(ctx)
			assert.Failed(t, err)
			assert.WantHidden(t, err, "canary", "00000002")
			assert.Equal(t, currentOf(e), before)
			fresh := assert.Must(encryption.NewEnvelope(b.Table(t), wrapping, nil))(t)
			assert.WantHidden(t, fresh.Load(ctx), "canary")
			assert.Equal(t, currentOf(fresh), "")
		}
		wrapping.broken, wrapping.short = false, 0
		wrapping.unwraps.Store(0)
		for range 2 {
			assert.NoError(t, e.Load(ctx))
		}
		assert.Equal(t, wrapping.unwraps.Load(), 1)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
			assert.Equal(t, fmt.Sprintf(verb, e), "keys of an envelope", verb)
		}

		b.Fault(storagetest.On("Table.Insert").LoseReply())
		lost := envelope(t, b.Table(t))
		assert.NoError(t, lost.Load(ctx))
		assert.Equal(t, len(currentOf(lost)), 8+32)
		b.ClearFaults()
		b.Fault(storagetest.On("Table.Insert").Status(403, "AuthorizationFailure"))
		var e403 *patterns.Error
		assert.Equal(t, errors.As(envelope(t, b.Table(t)).Load(ctx), &e403) && e403.Status == 403, true)
		b.ClearFaults()
		_, err := encryption.NewEnvelope(client, nil, nil)
		assert.WantError(t, err, patterns.ErrNil)
		_, err = encryption.NewEnvelope(client, wrapping, &encryption.EnvelopeOptions{Delay: -1})
		assert.WantError(t, err, patterns.ErrBadOption)
	})
}

var _ patterns.EncryptionKeys = (*encryption.Envelope)(nil)
