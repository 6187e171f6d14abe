package eventual_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// payloadName is a name that Enqueue could have chosen.
const payloadName = "azp_claim/0b4f6d1e-8a35-4c8e-9f0d-2b8f3f1f9a77"

// invoice is the content of the blobs that messages try to reach: JSON, so that a handler accepts it.
const invoice = `"4711"`

// claimText is a message that names a blob.
func claimText(name string, size int64, content, more string) string {
	quoted, _ := json.Marshal(name)
	return fmt.Sprintf(`{"azp":1,"id":"op","kind":"full","at":"2026-01-02T03:04:05Z","claim":{"name":%s,"size":%d,"sha256":"%x"}%s}`,
		quoted, size, sha256.Sum256([]byte(content)), more)
}

// poisoned is the member of a message of the poison queue.
const poisoned = `,"poison":{"message":"m","reason":"r","attempts":5,"inserted":"2026-01-02T03:04:05Z","at":"2026-01-02T03:04:05Z"}`

func send(t testing.TB, q *azqueue.QueueClient, text string) {
	t.Helper()
	assert.Must(q.EnqueueMessage(t.Context(), text, nil))(t)
}

func putBlob(t testing.TB, c *container.Client, name string, content []byte) {
	t.Helper()
	assert.Must(c.NewBlockBlobClient(name).UploadBuffer(t.Context(), content, nil))(t)
}

// elsewhere are names of blobs that Enqueue never chooses.
var elsewhere = map[string]string{
	"another prefix":     "invoices/4711.json",
	"no uuid":            "azp_claim/invoice",
	"below a payload":    payloadName + "/invoice",
	"the parent":         "azp_claim/../invoices/4711.json",
	"the parent, hidden": "azp_claim/%2e%2e/invoices/4711.json",
	"an address":         "https://evil.example/invoices/4711.json",
	"a slash first":      "/" + payloadName,
	"capitals":           "azp_claim/0B4F6D1E-8A35-4C8E-9F0D-2B8F3F1F9A77",
	"braces":             "azp_claim/{0b4f6d1e-8a35-4c8e-9f0d-2b8f3f1f9a77}",
	"no hyphens":         "azp_claim/0b4f6d1e8a354c8e9f0d2b8f3f1f9a77",
	"a backslash":        `azp_claim\0b4f6d1e-8a35-4c8e-9f0d-2b8f3f1f9a77`,
	"a query":            payloadName + "?snapshot=1",
	"controls":           "azp_claim/\x1b[2J",
	"too long":           "azp_claim/" + strings.Repeat("x", 2000),
	"empty":              "",
}

func TestMessageCannotReadOrDeleteABlobThatIsNoPayload(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for what, name := range elsewhere {
			t.Run(what, func(t *testing.T) {
				payloads := b.Container(t)
				putBlob(t, payloads, "invoices/4711.json", []byte(invoice))
				s := newFixture(t, b, func(o *eventual.Options) { o.Container = payloads })
				assert.Must(s.poison.Create(t.Context(), nil))(t)
				eventual.Handle(s.worker, "full", func(context.Context, eventual.Job[string]) error { return nil })
				send(t, s.queue, claimText(name, int64(len(invoice)), invoice, ""))
				send(t, s.poison, claimText(name, int64(len(invoice)), invoice, poisoned))
				b.ResetRequests()
				es := s.until(t, 1)
				wantOutcomes(t, es, eventual.Poisoned)
				assert.WantError(t, es[0].Err, eventual.ErrBadMessage)
				n := 0
				takeAll(t, s.poisonQueue(t), func(m *eventual.PoisonMessage) {
					n++
					assert.NoError(t, s.poisonQueue(t).Discard(t.Context(), m))
				})
				assert.Equal(t, n, 2, "poison messages")
				if q := b.Requests().Only("Blob.*"); len(q) > 0 {
					t.Errorf("requests to blobs:\n%v", q)
				}
				if left := blobs(t, payloads); len(left) != 1 {
					t.Errorf("%v are left", left)
				}
			})
		}
	})
}

// A message of 200 bytes must not make a worker read or allocate more than MaxPayload, 64 MiB by default, or than
// the payload has.
func TestMessageCannotMakeAWorkerReadMoreThanMaxPayload(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		const mib = 1 << 20
		for name, c := range map[string]struct {
			stored, claimed int64
			reads           int
			err             error
		}{
			"more than the default": {65 * mib, 65 * mib, 0, eventual.ErrBadMessage},
			"2 to the 62":           {3, 1 << 62, 0, eventual.ErrBadMessage},
			"negative":              {3, -1, 0, eventual.ErrBadMessage},
			"claimed, not stored":   {10, 60 * mib, 1, eventual.ErrClaimDamaged},
			"stored, not claimed":   {60 * mib, 10, 1, eventual.ErrClaimDamaged},
			"both":                  {mib, mib, 1, nil},
		} {
			read, took, err := process(t, b, c.stored, c.claimed, nil)
			if !errors.Is(err, c.err) || read != c.reads || took > 16*mib {
				t.Errorf("%s: %v, %d reads, %d MiB were allocated; want %v, %d reads", name, err, read, took/mib, c.err, c.reads)
			}
		}
	})
}

// process returns what became of a message that claims a payload of one size, while another size is stored: the
// number of reads, the bytes that were allocated meanwhile, and the error of the delivery.
func process(t *testing.T, b *harness.Backend, stored, claimed int64, change func(*eventual.Options)) (reads int, took uint64, err error) {
	payloads := b.Container(t)
	content := bytes.Repeat([]byte("7"), int(stored))
	content[0], content[stored-1] = '"', '"'
	putBlob(t, payloads, payloadName, content)
	s := newFixture(t, b, func(o *eventual.Options) {
		o.Container = payloads
		if change != nil {
			change(o)
		}
	})
	eventual.Handle(s.worker, "full", func(context.Context, eventual.Job[string]) error { return nil })
	send(t, s.queue, claimText(payloadName, claimed, string(content), ""))
	b.ResetRequests()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	es := s.until(t, 1)
	runtime.ReadMemStats(&after)
	return len(b.Requests().Only("Blob.Get")), after.TotalAlloc - before.TotalAlloc, es[0].Err
}

// A blob that was stored again after it was read is not the one that was read.
func TestPayloadIsDeletedOnlyInTheVersionThatWasRead(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		payloads := b.Container(t)
		s := newFixture(t, b, func(o *eventual.Options) { o.Container = payloads })
		eventual.Handle(s.worker, "full", func(ctx context.Context, job eventual.Job[string]) error {
			putBlob(t, payloads, blobs(t, payloads)[0], []byte(invoice))
			return nil
		})
		s.put(t, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: payloads})
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		assert.Equal(t, len(blobs(t, payloads)), 1, "blobs")
		wantEmpty(t, s.queue)
	})
}

func TestDiscardDeletesOnlyABlobOfTheSizeThatTheMessageNames(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		payloads := b.Container(t)
		putBlob(t, payloads, payloadName, []byte(invoice))
		s := newFixture(t, b, func(o *eventual.Options) { o.Container = payloads })
		assert.Must(s.poison.Create(t.Context(), nil))(t)
		send(t, s.poison, claimText(payloadName, int64(len(invoice))+1, invoice, poisoned))
		takeAll(t, s.poisonQueue(t), func(m *eventual.PoisonMessage) {
			assert.WantError(t, s.poisonQueue(t).Discard(t.Context(), m), eventual.ErrClaimDamaged)
		})
		assert.Equal(t, len(blobs(t, payloads)), 1, "blobs")
		wantEmpty(t, s.poison)

		send(t, s.poison, claimText(payloadName, int64(len(invoice)), invoice, poisoned))
		takeAll(t, s.poisonQueue(t), func(m *eventual.PoisonMessage) {
			b.ResetRequests()
			assert.NoError(t, s.poisonQueue(t).Discard(t.Context(), m))
			b.WantRequests(t, map[string]int{"Queue.Delete": 1, "Blob.Head": 1, "Blob.Delete": 1})
		})
		assert.Equal(t, len(blobs(t, payloads)), 0, "blobs")
	})
}

func TestASweepDeletesOnlyPayloads(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		payloads := b.Container(t)
		names := []string{"azp_claim/notes.txt", "azp_claim/archive/" + payloadName, payloadName + ".bak", "invoices/4711.json"}
		for _, name := range append(names, payloadName) {
			putBlob(t, payloads, name, []byte(invoice))
		}
		time.Sleep(31 * 24 * time.Hour)
		report, err := sweepClaims(t, payloads, nil)
		wantSwept(t, report, err, 1, 0, int64(len(invoice)))
		if left := blobs(t, payloads); len(left) != len(names) {
			t.Errorf("%v are left", left)
		}
	})
}

// A payload that is stored again between the list and its deletion stays.
func TestASweepKeepsAPayloadThatChangedSinceItWasListed(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		payloads := b.Container(t)
		putBlob(t, payloads, payloadName, []byte(invoice))
		time.Sleep(31 * 24 * time.Hour)
		b.Fault(storagetest.On("Blob.Delete").Delay(time.Minute))
		stored := make(chan error, 1)
		time.AfterFunc(30*time.Second, func() {
			_, err := payloads.NewBlockBlobClient(payloadName).UploadBuffer(context.Background(), []byte("{}"), nil)
			stored <- err
		})
		report, err := sweepClaims(t, payloads, nil)
		assert.NoError(t, <-stored)
		wantSwept(t, report, err, 0, 1, 0)
		if left := blobs(t, payloads); len(left) != 1 {
			t.Errorf("%v are left", left)
		}
	})
}

// hostileText contains what a terminal, a log or a viewer would act upon.
const hostileText = "\x1b]0;owned\a\r\n\u009b2J\u202egnp\u2066\u200b\u2028\x7f"

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) })
}

func TestTextOfAMessageReachesNoLogAndNoTerminalAsItIs(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		var log locked
		s := newFixture(t, b, func(o *eventual.Options) {
			o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: unquoted(&log)}))
			o.Tries = 1
		})
		eventual.Handle(s.worker, "fails", func(_ context.Context, job eventual.Job[string]) error {
			return errors.New("cannot print " + job.Message)
		})
		assert.Must(s.poison.Create(t.Context(), nil))(t)
		quoted := fmt.Sprintf("%q", hostileText)
		quoted = strings.NewReplacer(`\a`, `\u0007`, `\x1b`, `\u001b`, `\x7f`, `\u007f`).Replace(quoted)
		texts := []string{
			`{"azp":1,"id":` + quoted + `,"kind":"fails","at":"2026-01-02T03:04:05Z","body":"x"}`,
			`{"azp":1,"id":"op","kind":` + quoted + `,"at":"2026-01-02T03:04:05Z","body":"x"}`,
			`{"azp":1,"id":"op","kind":"fails","at":"2026-01-02T03:04:05Z","body":` + quoted + `}`,
			`{"azp":1,"id":"op","kind":"fails","at":"2026-01-02T03:04:05Z","body":"x","trace":` + quoted + `}`,
		}
		for _, text := range texts {
			send(t, s.queue, base64.StdEncoding.EncodeToString([]byte(text)))
			info := strings.NewReplacer(`"message":"m"`, `"message":`+quoted, `"reason":"r"`, `"reason":`+quoted).Replace(poisoned)
			send(t, s.poison, base64.StdEncoding.EncodeToString([]byte(strings.TrimSuffix(text, "}")+info+"}")))
		}
		for _, e := range s.until(t, len(texts)) {
			if text := e.Kind + e.ID + e.Err.Error() + e.LogValue().String(); !printable(text) {
				t.Errorf("event %q", text)
			}
		}
		if !printable(log.b.String()) || !strings.Contains(log.b.String(), "cannot print") {
			t.Errorf("log %q", log.b.String())
		}
		dead := peek(t, s.poisonQueue(t))
		assert.Equal(t, len(dead), 2*len(texts), "poison messages")
		for _, m := range dead {
			if text := m.ID + m.Kind + m.Reason + m.OriginalID; !printable(text) {
				t.Errorf("poison message %q", text)
			}
		}
	})
}

// unquoted writes the texts of attributes as they are, which a TextHandler quotes.
func unquoted(log *locked) func([]string, slog.Attr) slog.Attr {
	return func(_ []string, a slog.Attr) slog.Attr {
		if a.Key != slog.TimeKey {
			_, _ = log.Write([]byte(a.Value.Resolve().String() + "\n"))
		}
		return a
	}
}

func TestEnqueueRefusesAnIDThatIsNotPrintable(t *testing.T) {
	for _, id := range []string{hostileText, "a\tb", "\xff", "\u202e"} {
		err := eventual.Enqueue(t.Context(), newQueueClient(t), "k", 1, &eventual.EnqueueOptions{ID: id})
		assert.WantError(t, err, patterns.ErrBadOption, id)
	}
}
