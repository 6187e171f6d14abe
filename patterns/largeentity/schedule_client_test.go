package largeentity_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
)

// seen is an entity that a client has read or written.
type seen struct {
	largeentity.Item[film]
	at    time.Time
	video string
}

// client runs a few operations, and starts another process if its process is killed.
func (r *filmRun) client(ctx context.Context, number int) {
	p, chance := r.process(number)
	known := map[string]seen{}
	for i := range 2 + chance.IntN(5) {
		time.Sleep(time.Duration(chance.Int64N(int64(r.pause))).Truncate(time.Second))
		id := []string{"x", "y"}[min(chance.IntN(4), 1)]
		if s := known[id]; s.ETag != "" {
			_, _ = r.load(ctx, p, s)
		}
		var s seen
		if chance.IntN(4) == 0 {
			s = r.get(ctx, p, id)
		} else {
			s = r.write(ctx, p, chance, id, fmt.Sprint(number, ".", i), known[id])
		}
		if s.ETag != "" {
			known[id] = s
		}
		if p.Dead() {
			p, _ = r.process(number + i + 1)
		}
	}
}

// load reads the blobs of an entity that was read, and returns the video. They must exist for
// the grace period.
func (r *filmRun) load(ctx context.Context, p *program, s seen) (string, error) {
	item, err := p.films.Load(ctx, s.Item)
	var video []byte
	if err == nil && !item.Value.Video.IsZero() {
		var body io.ReadCloser
		if body, err = item.Value.Video.Open(ctx); err == nil {
			video, err = io.ReadAll(body)
			body.Close()
		}
	}
	if err == nil && len(item.Value.Poster) > 0 && string(item.Value.Poster) != "poster "+item.Value.Title {
		r.Failf("the poster of %s is %q", item.Value.Title, item.Value.Poster)
	}
	if errors.Is(err, largeentity.ErrCorrupt) || errors.Is(err, largeentity.ErrBlobNotFound) && time.Since(s.at) < grace {
		r.Failf("%v after the entity was read: %w", time.Since(s.at), err)
	}
	return string(video), err
}

func (r *filmRun) get(ctx context.Context, p *program, id string) seen {
	s := seen{at: time.Now()}
	var err error
	s.Item, err = p.films.Get(ctx, keys.Key{Partition: "films", Row: id})
	row := harness.Row{}
	switch {
	case errors.Is(err, largeentity.ErrCorrupt), errors.Is(err, largeentity.ErrBlobNotFound):
		r.Failf("get %s: %w", id, err)
		return seen{}
	case err == nil:
		if s.video, err = r.load(ctx, p, s); err != nil {
			return seen{}
		}
		row = harness.Row{Exists: true, A: s.Value.Title, B: s.video, ETag: string(s.ETag)}
	case !errors.Is(err, patterns.ErrNotFound):
		return seen{}
	}
	r.Add(id, s.at, harness.Action{Kind: harness.Read}, harness.Result{Outcome: harness.Applied, Row: row}, 0)
	return s
}

// write runs and records one write. known is the version that the client knows, if any.
func (r *filmRun) write(ctx context.Context, p *program, chance *rand.Rand, id, title string, known seen) seen {
	key, next := keys.Key{Partition: "films", Row: id}, seen{at: time.Now(), video: "video " + title}
	a := harness.Action{Kind: []harness.Kind{harness.InsertRow, harness.InsertRow, harness.UpdateRow, harness.Remove}[chance.IntN(4)], A: title}
	if known.ETag != "" && chance.IntN(2) == 0 {
		a.Kind, a.ETag = []harness.Kind{harness.ReplaceRow, harness.ReplaceRow, harness.DeleteRow}[chance.IntN(3)], string(known.ETag)
	}
	with, poster := chance.IntN(3), []byte("poster "+title)
	ctx, unanswered := harness.CountUnanswered(ctx)
	var err error
	switch a.Kind {
	case harness.InsertRow:
		next.Item, err = p.films.Insert(ctx, &film{
			PartitionKey: key.Partition, RowKey: id, Title: title, Poster: poster, Video: largeentity.StreamOf(strings.NewReader(next.video)),
		})
	case harness.UpdateRow:
		update := p.films.UpdateMeta
		if with == 0 {
			update, poster = p.films.Update, nil
		}
		next.Item, err = update(ctx, key, func(f *film) error {
			a.Saw, f.Title, f.Poster = f.Title, title, poster
			return nil
		})
	case harness.ReplaceRow:
		known.Value.Title, known.Value.Poster = title, poster
		switch with {
		case 0:
			next.video, known.Value.Video = "", largeentity.Stream{}
		case 1:
			next.video = known.video
		default:
			known.Value.Video = largeentity.StreamOf(strings.NewReader(next.video))
		}
		next.Item, err = p.films.Replace(ctx, known.Item)
	default:
		err = p.films.Delete(ctx, key, azcore.ETag(a.ETag))
	}
	a.B = next.video
	res := harness.NeverRan
	switch {
	case p.Dead(), errors.Is(err, patterns.ErrOutcomeUnknown):
		res = harness.Unknown
	case err == nil:
		res = harness.Applied
	case errors.Is(err, patterns.ErrExists):
		res = harness.Exists
	case errors.Is(err, patterns.ErrNotFound):
		res = harness.Missing
	case errors.Is(err, patterns.ErrConflict) && a.Kind != harness.UpdateRow:
		res = harness.Changed
	}
	again := 0
	if (a.Kind == harness.InsertRow || a.Kind == harness.Remove) && (res == harness.Applied || res == harness.Unknown) {
		again = int(unanswered.Load()) // after another client has undone it; their documentation states it
	}
	r.Log("%s %+v: %v, %d unanswered", id, a, err, unanswered.Load())
	r.Add(id, next.at, a, harness.Result{Outcome: res, Row: harness.Row{ETag: string(next.ETag)}}, again)
	if res != harness.Applied || a.Kind == harness.UpdateRow { // the video of the latter is not known
		return seen{}
	}
	return next
}
