package largeentity_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// Writers, readers, a worker and a sweeper run concurrently on a service that is slow,
// refuses requests and loses replies. In every schedule the blobs of an entity can be read
// for the grace period after the entity was read, no reference dangles, and in the end no
// unreferenced blob exists.
func TestRandomSchedulesLeaveNoDanglingReferenceAndNoOrphan(t *testing.T) {
	for seed := range uint64(16) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newSchedule(t, seed).run() })
		})
	}
}

const (
	grace   = 10 * time.Minute
	slowest = 4 * time.Minute // delay of a request or reply
)

type schedule struct {
	*testing.T
	seed   uint64
	acct   *storagetest.Account
	outbox *delayedOutbox // nil for a table that is only swept
	films  *largeentity.Table[film]
}

func newSchedule(t *testing.T, seed uint64) *schedule {
	s := &schedule{T: t, seed: seed, acct: storagetest.Start(&storagetest.Options{Seed: seed + 1})}
	if seed%3 != 0 {
		s.outbox = new(delayedOutbox)
	}
	s.films = s.process()
	if err := s.films.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// process opens the table as another process would.
func (s *schedule) process() *largeentity.Table[film] {
	o := &largeentity.Options[film]{Grace: grace, Threshold: largeentity.Always}
	if s.outbox != nil {
		o.Outbox = s.outbox
	}
	return open(s.T, s.acct.Tables().NewClient("Films"), s.acct.Container("photos"), o)
}

func (s *schedule) random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(s.seed, stream)) }

func (s *schedule) run() {
	sometimes := func(op string, p float64) storagetest.Rule {
		return storagetest.On(op).Probability(p).Times(storagetest.Forever)
	}
	s.acct.Fault(
		sometimes("Blob.Put", 0.1).DelayReply(slowest), sometimes("Blob.Put", 0.05).LoseReply(),
		sometimes("Blob.Delete", 0.1).LoseReply(), sometimes("Blob.SetMetadata", 0.1).LoseReply(), sometimes("Blob.Get", 0.1).CutReply(3),
		sometimes("Table.Insert", 0.1).LoseReply(), sometimes("Table.Replace", 0.1).LoseReply(), sometimes("Table.Delete", 0.1).LoseReply(),
		sometimes("Table.Insert", 0.1).Delay(slowest), sometimes("Table.Replace", 0.1).Delay(slowest),
		sometimes("Table.Replace", 0.05).Status(403, "AuthorizationFailure"), sometimes("Table.*", 0.05).Status(503, "ServerBusy"),
	)
	var clients, services sync.WaitGroup
	for n := range uint64(4) {
		clients.Go(func() { s.client(s.process(), s.random(n)) })
	}
	stop := make(chan struct{})
	every := func(d time.Duration, do func()) {
		services.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(d):
					do()
				}
			}
		})
	}
	chance := s.random(99)
	every(time.Minute, func() { s.work(chance.IntN(5) == 0) })
	every(3*time.Minute, func() { _, _ = s.films.Sweep(s.Context(), nil) }) // the next sweep repeats what failed
	clients.Wait()
	close(stop)
	services.Wait()

	s.acct.ClearFaults()
	referenced := map[string]bool{}
	for row, err := range s.films.Table().Query(s.Context(), query.PartitionKey.Eq("films"), nil) {
		if err != nil {
			s.Fatal(err)
		}
		item := harness.Must(s.films.FromRow(row))(s.T)
		for _, property := range []string{"Video", "Poster"} {
			if b, ok := item.Blob(property); ok {
				referenced[b.Name] = true
			}
		}
		s.readBlobs(s.films, item)
	}
	for range 6 {
		time.Sleep(2 * grace)
		s.work(false)
		if s.outbox == nil {
			harness.Must(s.films.Sweep(s.Context(), nil))(s.T)
		}
	}
	if n := len(stored(s.T, s.acct.Container("photos"))); n != len(referenced) {
		s.Errorf("%d blobs, %d of them referenced", n, len(referenced))
	}
}

// client changes random entities, and repeatedly reads the blobs of the entities that it read
// recently.
func (s *schedule) client(films *largeentity.Table[film], r *rand.Rand) {
	type reading struct {
		item largeentity.Item[film]
		at   time.Time
	}
	var readings []reading
	for n := range 25 {
		key := keys.Key{Partition: "films", Row: fmt.Sprint(r.IntN(2))}
		content := fmt.Sprint(key.Row, n, r.IntN(3))
		stream := largeentity.NewStream(strings.NewReader(content))
		var err error
		switch r.IntN(7) {
		case 0:
			_, err = films.Insert(s.Context(), &film{PartitionKey: key.Partition, RowKey: key.Row, Video: stream, Poster: []byte(content)})
		case 1:
			_, err = films.UpdateMeta(s.Context(), key, func(f *film) error { f.Poster = []byte(content); return nil })
		case 2:
			_, err = films.Update(s.Context(), key, func(f *film) error { f.Video = stream; return nil })
		case 3:
			_, err = films.Update(s.Context(), key, func(f *film) error { f.Poster = nil; return nil })
		case 4:
			err = films.Delete(s.Context(), key, "")
		default:
			var item largeentity.Item[film]
			if item, err = films.GetMeta(s.Context(), key); err == nil {
				readings = append(readings, reading{item, time.Now()})
			}
		}
		if errors.Is(err, largeentity.ErrBlobNotFound) || errors.Is(err, largeentity.ErrCorrupt) {
			s.Error(err)
		}
		time.Sleep(time.Duration(r.Int64N(int64(slowest))))
		for _, seen := range readings[max(0, len(readings)-4):] {
			if time.Since(seen.at) < grace-slowest { // reading the blobs takes up to slowest
				s.readBlobs(films, seen.item)
			}
		}
	}
}

// readBlobs reads all blobs of an entity.
func (s *schedule) readBlobs(films *largeentity.Table[film], item largeentity.Item[film]) {
	item, err := films.Load(s.Context(), item)
	if err == nil && !item.Value.Video.IsZero() {
		var video io.ReadCloser
		if video, err = item.Value.Video.Open(s.Context()); err == nil {
			_, err = io.Copy(io.Discard, video)
			video.Close()
		}
	}
	if errors.Is(err, largeentity.ErrBlobNotFound) || errors.Is(err, largeentity.ErrCorrupt) {
		s.Errorf("blobs of an entity that was read: %v", err)
	}
}

// work handles the messages that are visible, or all messages if early is true.
func (s *schedule) work(early bool) {
	if s.outbox == nil {
		return
	}
	s.outbox.deliver(early, func(w patterns.OutboxMessage) time.Duration {
		retryAfter, err := s.films.Handle(context.WithoutCancel(s.Context()), w)
		if err != nil {
			retryAfter = time.Minute
		}
		return retryAfter
	})
}
