package encryption

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// A WrappingKey encrypts keys, for example in a key vault. It must be safe for concurrent use. Of its errors [Envelope] shows
// neither texts nor keys.
type WrappingKey interface {
	// Wrap returns a key encrypted, with what Unwrap needs, such as the version of the wrapping key, in at most 64 KiB.
	Wrap(ctx context.Context, key []byte) (wrapped []byte, err error)

	// Unwrap returns the key that Wrap has encrypted.
	Unwrap(ctx context.Context, wrapped []byte) (key []byte, err error)
}

// Envelope is a [patterns.EncryptionKeys] whose keys are stored in a table, each encrypted by a [WrappingKey]:
//
//	PartitionKey  RowKey    Wrapped      From
//	keys          00000001  ciphertext
//	keys          00000002  ciphertext   2026-07-01T01:00:00Z
//
// A key has its row key as id, and is the current one from that time on until that of the next. Rows never change. Programs share a table of
// keys, which may serve any number of tables with encrypted properties. Who can write it, and can wrap keys, determines the key
// of what is encrypted next; who only uses keys needs to read it.
//
// Call [Envelope.Load] before the first use, and then at least twice in each EnvelopeOptions.Delay, for example when a read fails
// with patterns.ErrNoKey and by a timer. It is safe for concurrent use. No text that it is printed as contains a key.
type Envelope struct {
	table    *patterns.Table[wrappedKey]
	wrapping WrappingKey
	delay    time.Duration
	loading  sync.Mutex
	ring     atomic.Pointer[Ring] // nil before Load
}

// EnvelopeOptions are the options of [NewEnvelope]. nil and the zero value select the defaults.
type EnvelopeOptions struct {
	// Delay is how long after [Envelope.Rotate] the new key becomes the current one. Until then all programs must have
	// loaded it; half of it is for a request of Rotate that is late. Zero means one hour.
	Delay time.Duration
}

type wrappedKey struct {
	PartitionKey, RowKey string
	Wrapped              []byte
	From                 time.Time
}

const keysPartition = "keys"

// NewEnvelope returns the keys in the table of client. It makes no request.
func NewEnvelope(client *aztables.Client, wrapping WrappingKey, opts *EnvelopeOptions) (*Envelope, error) {
	e := &Envelope{wrapping: wrapping}
	if opts != nil {
		e.delay = opts.Delay
	}
	err := azerr.Default(&e.delay, time.Hour, "Delay")
	if wrapping == nil {
		err = fmt.Errorf("wrapping key: %w", patterns.ErrNil)
	}
	if err == nil {
		e.table, err = patterns.NewTable[wrappedKey](client, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("new envelope: %w", err)
	}
	return e, nil
}

// Client returns the client that NewEnvelope took.
func (e *Envelope) Client() *aztables.Client { return e.table.Client() }

// Create creates the table of keys; it is not an error if the table exists. One request.
func (e *Envelope) Create(ctx context.Context) error { return e.table.Create(ctx) }

// Load reads the keys, unwraps those that it does not have yet, and makes the first key if there is none: programs that
// do so concurrently have the same one afterwards. One request, and two more for the first key. After an error the keys are those of
// the last Load.
func (e *Envelope) Load(ctx context.Context) error { return e.load(ctx, false) }

// Rotate stores a new key, which becomes the current one after EnvelopeOptions.Delay, and loads the keys. It stores none
// if there is one that is not current yet, so calls that are repeated, or concurrent, add one key. Two requests and those
// of [Envelope.Load]. Then [patterns.Table.Reencrypt] brings the rows to the new key. When that reports that an old key is no longer
// needed, in no table, its row can be deleted, but never that of the newest.
func (e *Envelope) Rotate(ctx context.Context) error { return e.load(ctx, true) }

func (e *Envelope) load(ctx context.Context, rotate bool) error {
	e.loading.Lock()
	defer e.loading.Unlock()
	stored, now, err := e.read(ctx)
	if n := len(stored); err == nil && (n == 0 || rotate && !stored[n-1].From.After(now)) {
		from, last := time.Time{}, uint64(0)
		if n > 0 {
			from = now.Add(e.delay)
			last, err = keys.ParseDigits(stored[n-1].RowKey)
		}
		if err == nil {
			err = e.add(ctx, last+1, from)
		}
		added := err
		if err == nil || errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrOutcomeUnknown) {
			stored, now, err = e.read(ctx)
		}
		if err == nil && len(stored) == n {
			err = added
		}
	}
	if err == nil {
		err = e.unwrap(ctx, stored, now)
	}
	if err != nil {
		return fmt.Errorf("envelope: %w", err)
	}
	return nil
}

// read returns the stored keys in the order of their ids, and the time of the service.
func (e *Envelope) read(ctx context.Context) (stored []wrappedKey, now time.Time, err error) {
	for item, err := range e.table.Query(ctx, query.PartitionKey.Eq(keysPartition), nil) {
		if err != nil {
			return nil, now, err
		}
		stored = append(stored, item.Value)
	}
	now, _ = e.table.ServiceTime()
	return stored, now, nil
}

// add stores a new key, unless there is one with that number.
func (e *Envelope) add(ctx context.Context, n uint64, from time.Time) error {
	id, err := keys.Digits(n, 8)
	if err != nil {
		return err
	}
	key := make([]byte, 32)
	rand.Read(key) // never fails
	wrapped, err := e.wrapping.Wrap(ctx, key)
	if err != nil {
		return fmt.Errorf("wrap: %w", azerr.Seal(err))
	}
	_, err = e.table.Insert(ctx, &wrappedKey{keysPartition, id, wrapped, from})
	return err
}

// unwrap makes the stored keys those that e has.
func (e *Envelope) unwrap(ctx context.Context, stored []wrappedKey, now time.Time) error {
	all, current := make(map[string][]byte, len(stored)), ""
	for _, s := range stored {
		key, ok := e.Key(s.RowKey)
		if !ok {
			var err error
			if key, err = e.wrapping.Unwrap(ctx, s.Wrapped); err != nil {
				return fmt.Errorf("unwrap: %w", azerr.Seal(err))
			}
		}
		if all[s.RowKey] = key; current == "" || !s.From.After(now) {
			current = s.RowKey
		}
	}
	ring, err := RingOf(current, all)
	if err == nil {
		e.ring.Store(ring)
	}
	return err
}

// Current implements [patterns.EncryptionKeys].
func (e *Envelope) Current() (id string, key []byte) {
	if r := e.ring.Load(); r != nil {
		return r.Current()
	}
	return "", nil
}

// Key implements [patterns.EncryptionKeys].
func (e *Envelope) Key(id string) (key []byte, ok bool) {
	if r := e.ring.Load(); r != nil {
		return r.Key(id)
	}
	return nil, false
}

// Format prints no key.
func (e *Envelope) Format(f fmt.State, _ rune) { fmt.Fprint(f, "keys of an envelope") }
