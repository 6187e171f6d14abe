package eventual_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

func signingKey(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

var (
	oldKey, newKey, strangeKey = signingKey(1), signingKey(2), signingKey(3)

	// rings are those that programs have while oldKey is replaced by newKey.
	rings = [][][]byte{{oldKey}, {oldKey, newKey}, {newKey, oldKey}, {newKey}}
)

// textOf returns the text of the only message of a queue, and removes it.
func textOf(t testing.TB, q *azqueue.QueueClient) string {
	t.Helper()
	ms := messages(t, q)
	assert.Equal(assert.Now(t), len(ms), 1, "messages")
	assert.Must(q.ClearMessages(t.Context(), nil))(t)
	return *ms[0].MessageText
}

func TestWorkerWithKeysProcessesOnlyMessagesThatWereSignedForItsQueue(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		other := b.Queue(t)
		signed := func(q *azqueue.QueueClient, keys ...[]byte) string {
			assert.NoError(t, eventual.Enqueue(t.Context(), q, "letter", letter{To: "Ken"}, &eventual.EnqueueOptions{ID: "op", SigningKeys: keys}))
			return textOf(t, q)
		}
		s := newFixture(t, b, func(o *eventual.Options) {
			o.SigningKeys = [][]byte{newKey, oldKey}
			o.Decode = func(string) (string, []byte, error) {
				t.Error("Decode was called")
				return "", nil, nil
			}
		})
		calls := 0
		eventual.Handle(s.worker, "letter", func(_ context.Context, job eventual.Job[letter]) error {
			calls++
			return nil
		})
		valid := signed(s.queue, oldKey)
		decoded := string(eventual.Text(valid))
		_, unsigned, _ := strings.Cut(decoded, `","id"`)
		for name, c := range map[string]struct {
			text string
			good bool
		}{
			"signed":            {valid, true},
			"by the first key":  {signed(s.queue, newKey), true},
			"not base64":        {decoded, true},
			"by another key":    {signed(s.queue, strangeKey), false},
			"for another queue": {signed(other, oldKey), false},
			"unsigned":          {signed(s.queue), false},
			"changed":           {strings.Replace(decoded, "Ken", "Eve", 1), false},
			"other kind":        {strings.Replace(decoded, "letter", "refund", 1), false},
			"signature removed": {`{"azp":1,"id"` + unsigned, false},
			"empty signature":   {`{"azp":1,"mac":"","id"` + unsigned, false},
			"a member before":   {strings.Replace(decoded, `{"azp":1,`, `{"azp":1,"free":9,`, 1), false},
			"a member after":    {strings.TrimSuffix(decoded, "}") + `,"free":9}`, false},
			"another version":   {strings.Replace(decoded, `{"azp":1,`, `{"azp":2,`, 1), false},
			"foreign":           {"hello", false},
			"empty":             {"", false},
		} {
			calls = 0
			send(t, s.queue, c.text)
			es := s.until(t, 1)
			if bad := errors.Is(es[0].Err, eventual.ErrBadMessage); c.good == bad || c.good != (calls == 1) {
				t.Errorf("%s: %v, %d calls", name, es[0].Err, calls)
			}
		}
	})
}

// Each program has another ring at a time, and none refuses a message.
func TestKeysAreReplacedWithoutRefusingAMessage(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for i := range rings {
			for _, sender := range rings[max(i-1, 0):min(i+2, len(rings))] {
				s := newFixture(t, b, func(o *eventual.Options) { o.SigningKeys = rings[i] })
				eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error { return nil })
				s.put(t, "letter", letter{}, &eventual.EnqueueOptions{SigningKeys: sender})
				wantOutcomes(t, s.until(t, 1), eventual.Done)
			}
		}
	})
}

// A worker changes messages, copies them to its other queues, and an operator replays them.
func TestSignatureStaysValidWhereverAMessageGoes(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		late := b.Queue(t)
		s := newFixture(t, b, func(o *eventual.Options) {
			o.SigningKeys, o.LateChecks = [][]byte{newKey, oldKey}, late
		})
		snoozed, works := 0, false
		eventual.Handle(s.worker, "letter", func(_ context.Context, job eventual.Job[letter]) error {
			if snoozed++; snoozed < 3 {
				return eventual.Snooze(time.Second)
			}
			if !works {
				return eventual.Cancel("", errFails)
			}
			return nil
		})
		eventual.HandleOutbox(s.worker, "", lateDrainer{})
		s.put(t, "letter", letter{To: "Ken"}, &eventual.EnqueueOptions{ID: "op", SigningKeys: [][]byte{oldKey}})
		wantOutcomes(t, s.until(t, 3), eventual.Snoozed, eventual.Snoozed, eventual.Poisoned)
		works = true
		takeAll(t, s.poisonQueue(t), func(m *eventual.PoisonMessage) {
			assert.Equal(t, m.Kind, "letter")
			assert.Equal(t, string(m.Payload), `{"To":"Ken","Text":""}`)
			assert.NoError(t, s.poisonQueue(t).Replay(t.Context(), m))
		})
		wantOutcomes(t, s.until(t, 1), eventual.Done)

		outbox := assert.Must(eventual.NewOutbox(s.queue, "", &eventual.OutboxOptions{SigningKeys: [][]byte{oldKey}}))(t)
		assert.Must(outbox.Put(t.Context(), patterns.OutboxMessage{ID: "op"}, 0))(t)
		wantOutcomes(t, s.until(t, 1), eventual.Snoozed)
		checks := newFixtureOn(t, b, late, s.poison, func(o *eventual.Options) { o.SigningKeys = [][]byte{newKey} })
		eventual.HandleOutbox(checks.worker, "", lateDrainer{})
		time.Sleep(2 * time.Hour)
		wantOutcomes(t, checks.until(t, 1), eventual.Snoozed)

		// A host delivers the message, and the copy is a new one.
		s.put(t, "letter", letter{}, &eventual.EnqueueOptions{SigningKeys: [][]byte{oldKey}})
		snoozed = 0
		assert.NoError(t, s.worker.Process(t.Context(), textOf(t, s.queue), 1))
		wantOutcomes(t, s.next(t, 1), eventual.Snoozed)
		snoozed = 3
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		wantEmpty(t, s.poison)
	})
}

// Replay does not sign a message that the worker has refused.
func TestReplayDoesNotSignWhatWasNotSigned(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.SigningKeys = [][]byte{newKey} })
		eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error {
			t.Error("the handler was called")
			return nil
		})
		assert.Must(s.poison.Create(t.Context(), nil))(t)
		s.put(t, "letter", letter{}, nil)
		send(t, s.poison, claimText(payloadName, 1, "1", poisoned))
		wantOutcomes(t, s.until(t, 1), eventual.Poisoned)
		takeAll(t, s.poisonQueue(t), func(m *eventual.PoisonMessage) { assert.NoError(t, s.poisonQueue(t).Replay(t.Context(), m)) })
		wantOutcomes(t, s.until(t, 2), eventual.Poisoned, eventual.Poisoned)
	})
}

// While senders sign and workers have no keys yet, no signature gets lost.
func TestWorkerWithoutKeysKeepsASignature(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error { return eventual.Snooze(0) })
		s.put(t, "letter", letter{}, &eventual.EnqueueOptions{SigningKeys: [][]byte{oldKey}})
		s.until(t, 2)
		verifying := newFixtureOn(t, b, s.queue, s.poison, func(o *eventual.Options) { o.SigningKeys = [][]byte{oldKey} })
		eventual.Handle(verifying.worker, "letter", func(context.Context, eventual.Job[letter]) error { return nil })
		wantOutcomes(t, verifying.until(t, 1), eventual.Done)
	})
}

func TestShortSigningKeysAndEmptyRingsAreRefused(t *testing.T) {
	q, poison := newQueueClient(t), newQueueClient(t)
	for _, keys := range [][][]byte{{}, {{}}, {oldKey, newKey[:31]}} {
		_, err1 := eventual.NewWorker(q, &eventual.Options{SigningKeys: keys})
		err2 := eventual.Enqueue(t.Context(), q, "k", 1, &eventual.EnqueueOptions{SigningKeys: keys})
		_, err3 := eventual.NewPoisonQueue(q, poison, &eventual.PoisonQueueOptions{SigningKeys: keys})
		_, err4 := eventual.NewOutbox(q, "", &eventual.OutboxOptions{SigningKeys: keys})
		for _, err := range []error{err1, err2, err3, err4} {
			assert.WantError(t, err, patterns.ErrBadOption)
		}
	}
}

// Who asks for a signature, but has found no keys, gets an error and no unsigned message.
func TestAnOutboxIsNotSignedWithoutKeys(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		queue := b.Queue(t)
		b.ResetRequests()
		for _, keys := range [][][]byte{{}, {nil}, {signingKey(1)[:31]}, {oldKey, nil}} {
			if signed, err := eventual.NewOutbox(queue, "", &eventual.OutboxOptions{SigningKeys: keys}); signed != nil || !errors.Is(err, patterns.ErrBadOption) {
				t.Errorf("%d keys: %v, %v", len(keys), signed, err)
			}
		}
		b.WantRequestCount(t, 0)
	})
}

// A program erases its keys, or changes the ring, after it has passed them.
func TestKeysAreCopied(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		newRing := func() [][]byte { return [][]byte{signingKey(1), signingKey(2)} }
		erase := func(ring [][]byte) {
			clear(ring[1])
			ring[0] = strangeKey
		}
		var rings [][][]byte
		passed := func() [][]byte {
			rings = append(rings, newRing())
			return rings[len(rings)-1]
		}
		s := newFixture(t, b, func(o *eventual.Options) { o.SigningKeys = passed() })
		poison := assert.Must(eventual.NewPoisonQueue(s.queue, s.poison, &eventual.PoisonQueueOptions{SigningKeys: passed()}))(t)
		outbox := assert.Must(eventual.NewOutbox(s.queue, "", &eventual.OutboxOptions{SigningKeys: passed()}))(t)
		for _, ring := range rings {
			erase(ring)
		}
		works := false
		eventual.HandleOutbox(s.worker, "", lateDrainer{})
		eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error {
			if !works {
				return eventual.Cancel("", errFails)
			}
			return nil
		})
		for _, key := range newRing() {
			s.put(t, "letter", letter{To: "Ken"}, &eventual.EnqueueOptions{SigningKeys: [][]byte{key}})
		}
		wantOutcomes(t, s.until(t, 2), eventual.Poisoned, eventual.Poisoned)
		works = true
		takeAll(t, poison, func(m *eventual.PoisonMessage) {
			assert.Equal(t, m.Kind, "letter", "got", m)
			assert.NoError(t, poison.Replay(t.Context(), m))
		})
		wantOutcomes(t, s.until(t, 2), eventual.Done, eventual.Done)
		assert.Must(outbox.Put(t.Context(), patterns.OutboxMessage{Partition: "p", ID: "op"}, 0))(t)
		wantOutcomes(t, s.until(t, 1), eventual.Snoozed)
	})
}
