package eventual_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

func TestForeignMessageIsPassedToTheRawHandler(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"plain":                 {"hello", "hello"},
		"JSON":                  {`{"To":"Ken"}`, `{"To":"Ken"}`},
		"base64 of JSON":        {base64.StdEncoding.EncodeToString([]byte(`{"To":"Ken"}`)), `{"To":"Ken"}`},
		"base64 in lines":       {"aGVsbG8gPHlvdT4=\n", "hello <you>"},
		"base64, not UTF-8":     {"abcd", "abcd"}, // 69 b7 1d
		"missing padding":       {"aGVsbG8gPHlvdT4", "aGVsbG8gPHlvdT4"},
		"non-zero padding bits": {"aGVsbG8gPHlvdT5=", "aGVsbG8gPHlvdT5="},
		"empty":                 {"", ""},
		"other JSON with azp":   {`{"azp":"yes"}`, `{"azp":"yes"}`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, string(eventual.Text(c.text)), c.want, "Text")
			harness.Run(t, func(t *testing.T, b *harness.Backend) {
				s := newFixture(t, b, nil)
				var job eventual.Job[string]
				eventual.Handle(s.worker, eventual.Raw, func(_ context.Context, j eventual.Job[string]) error {
					job = j
					return nil
				})
				assert.NoError(t, assert.ErrorOf(s.queue.EnqueueMessage(t.Context(), c.text, nil)))
				id := *messages(t, s.queue)[0].MessageID
				wantOutcomes(t, s.until(t, 1), eventual.Done)
				if job.Message != c.want || job.ID != id || job.Enqueued.IsZero() || job.Attempt != 1 {
					t.Errorf("got %+v, want %q", job, c.want)
				}
			})
		})
	}
}

func TestRawHandlerReceivesTheTypeOfItsParameter(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		put := func(s *fixture, text string) {
			assert.NoError(t, assert.ErrorOf(s.queue.EnqueueMessage(t.Context(), text, nil)))
		}
		s := newFixture(t, b, nil)
		eventual.Handle(s.worker, eventual.Raw, func(_ context.Context, j eventual.Job[letter]) error {
			assert.Equal(t, j.Message.To, "Ken", "got", j.Message)
			return nil
		})
		put(s, `{"To":"Ken"}`)
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		put(s, "no JSON")
		wantOutcomes(t, s.until(t, 1), eventual.Poisoned)

		s = newFixture(t, b, nil)
		eventual.Handle(s.worker, eventual.Raw, func(_ context.Context, j eventual.Job[[]byte]) error {
			assert.Equal(t, string(j.Message), "bytes", "got", j.Message)
			return nil
		})
		put(s, "bytes")
		wantOutcomes(t, s.until(t, 1), eventual.Done)
	})
}

func TestDecodeSelectsHandlerAndPayloadOfForeignMessages(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) {
			o.Decode = func(text string) (string, []byte, error) {
				kind, payload, ok := strings.Cut(text, " ")
				switch {
				case text == "panic":
					panic(text)
				case !ok:
					return "", nil, errors.New("no blank")
				}
				return kind, []byte(payload), nil
			}
		})
		var got letter
		eventual.Handle(s.worker, "letter", func(_ context.Context, j eventual.Job[letter]) error {
			got = j.Message
			return nil
		})
		for _, text := range []string{`letter {"To":"Ken"}`, "letter", "panic", `parcel {}`, " {}"} {
			assert.NoError(t, assert.ErrorOf(s.queue.EnqueueMessage(t.Context(), text, nil)))
		}
		es := s.until(t, 5)
		done := 0
		for _, e := range es {
			if e.Outcome == eventual.Done {
				done++
			}
		}
		assert.Equal(t, done, 1)
		assert.Equal(t, got.To, "Ken")
		reasons := map[string]bool{}
		for _, d := range peek(t, s.poisonQueue(t)) {
			reasons[d.Reason] = true
		}
		for _, r := range []string{"Options.Decode: no blank", "Options.Decode: handler panicked: value of type string", `no handler for kind "parcel"`, "Options.Decode: bad kind: empty"} {
			if !reasons[r] {
				t.Errorf("no %q in %v", r, reasons)
			}
		}
	})
}
