package logdata

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/patterns"
)

// Writer writes the records of a service to blobs of its own. It may be used by any
// number of goroutines, and any number of Writers may write for the same service. A
// flush by count, size or age runs in a goroutine that ends with it; Close ends the
// one that is under way and lets no other begin. A Writer that is not closed loses
// what its buffer holds.
type Writer struct {
	container *container.Client
	service   string
	o         Options
	dropped   atomic.Uint64

	mu     sync.Mutex
	buffer []*line
	waits  int         // bytes in the buffer
	held   int         // these and those of the block under way
	timer  *time.Timer // of the next flush that nobody waits for, or of the one that runs
	closed bool

	background context.Context // of those flushes, until Close
	cancel     context.CancelFunc
	running    sync.WaitGroup

	turn chan struct{} // who has put a token in flushes, and has the following:

	block *block         // cut from the buffer and not known to be stored
	blobs []*blob        // open ones, the last used last
	next  map[string]int // prefix of an hour -> the number to try first
}

// line is a record as it is stored, with its newline.
type line struct {
	data   []byte
	hour   time.Time
	second int // within the hour
	kind   string
	stored bool // under mu
}

// NewWriter makes a Writer of the service's logs in the container, which must exist
// before the first flush. The service is what the names of the blobs begin with.
// NewWriter makes no request and starts no goroutine.
func NewWriter(client *container.Client, service string, opts *Options) (*Writer, error) {
	o, err := opts.withDefaults(client, service)
	if err != nil {
		return nil, fmt.Errorf("new log writer: %w", err)
	}
	w := &Writer{
		container: client, service: service, o: o,
		turn: make(chan struct{}, 1), next: map[string]int{},
	}
	w.background, w.cancel = context.WithCancel(context.Background())
	return w, nil
}

// Container gives back the client that NewWriter took.
func (w *Writer) Container() *container.Client { return w.container }

// Dropped is how many records were dropped because the buffer was full, see
// [Options.Drop].
func (w *Writer) Dropped() uint64 { return w.dropped.Load() }

// Write takes the record into the buffer; with [Options.Sync] it returns when it is
// stored. Without an error the record is stored once, unless the process dies before
// a flush. With one that matches [ErrPending] it was taken all the same and goes out
// with a later flush. With any other error it was not taken: a [*RecordError] for one
// that cannot be stored, [ErrFull], [ErrClosed], or the end of ctx.
//
// No request without Sync, unless the buffer is full. With Sync one for all records
// that wait at the same time, two where a blob is begun, and one a minute for the
// metadata.
func (w *Writer) Write(ctx context.Context, r Record) error {
	if err := r.check(time.Now()); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	l, err := w.line(&r)
	if err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	if err := w.take(ctx, l); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	if !w.o.Sync {
		return nil
	}
	err = w.flush(ctx, false)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil || l.stored {
		return nil
	}
	w.wake(retryAfter)
	return fmt.Errorf("write log: %w: %w", ErrPending, err)
}

func (w *Writer) line(r *Record) (*line, error) {
	data, err := w.o.Format.AppendLine(nil, r)
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(data, '\n') >= 0 || len(data) == 0 {
		return nil, &RecordError{Reason: "became no line, or several, by its format"}
	}
	if data = append(data, '\n'); len(data) > MaxBlock {
		return nil, &RecordError{Reason: "is larger than a block", kind: patterns.ErrTooLarge}
	}
	h := hourOf(r.Time)
	return &line{data: data, hour: h, second: int(r.Time.Sub(h) / time.Second), kind: r.Type}, nil
}

// take puts the line into the buffer, when there is room.
func (w *Writer) take(ctx context.Context, l *line) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		taken, err := w.tryTake(l)
		if taken || err != nil {
			return err
		}
		if w.o.Drop {
			w.dropped.Add(1)
			return ErrFull
		}
		if err := w.flush(ctx, false); err != nil {
			return fmt.Errorf("%w: %w", ErrFull, err)
		}
	}
}

func (w *Writer) tryTake(l *line) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return false, ErrClosed
	case w.held+len(l.data) > w.o.BufferBytes:
		w.wake(0)
		return false, nil
	}
	w.buffer = append(w.buffer, l)
	w.waits += len(l.data)
	w.held += len(l.data)
	switch {
	case w.o.Sync: // flushes at once
	case w.due():
		w.wake(0)
	case w.o.FlushAge > 0:
		w.wake(w.o.FlushAge)
	}
	return true, nil
}

// due tells that the buffer has enough to be flushed.
func (w *Writer) due() bool {
	return len(w.buffer) >= w.o.FlushRecords || w.waits >= w.o.FlushBytes
}

// Flush stores what was written before it began, and brings the metadata of the
// blobs up to date. Whatever it could not store stays in the buffer.
func (w *Writer) Flush(ctx context.Context) error {
	if err := w.flush(ctx, true); err != nil {
		return fmt.Errorf("flush log: %w", err)
	}
	return nil
}

// Close stops taking records, ends the flush under way, stores what is left and sets
// the metadata. When it returns no goroutine of the Writer is left. After an error
// it can be called again; the records are still there.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	w.closed = true
	if w.timer != nil && w.timer.Stop() {
		w.timer = nil
		w.running.Done()
	}
	w.mu.Unlock()
	w.cancel()
	w.running.Wait()
	if err := w.flush(ctx, true); err != nil {
		return fmt.Errorf("close log: %w", err)
	}
	return nil
}
