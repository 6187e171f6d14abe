package logdata

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns"
)

// Writer writes the records of a service to blobs that it creates. It is safe for
// concurrent use, and any number of Writers may write for the same service. A flush by
// count, size or age runs in a goroutine that ends with the flush. Call Close after the
// last record: a Writer that is not closed loses its buffered records.
type Writer struct {
	container *container.Client
	service   string
	options   WriterOptions
	dropped   atomic.Uint64

	mu       sync.Mutex
	buffer   []line
	room     []byte      // the end of it is free for the lines of further records
	buffered int         // bytes of the lines in buffer
	held     int         // buffered plus the bytes of the pending block
	timer    *time.Timer // of the next background flush, or of the running one
	closed   bool

	background context.Context // of background flushes, until the context of a Close ends
	cancel     context.CancelFunc
	running    sync.WaitGroup

	flushing chan struct{} // semaphore of one; its holder owns the fields below

	pending *block         // taken out of the buffer, not known to be stored
	blobs   []*blob        // open blobs, the most recently used last
	next    map[string]int // the number to try first, by the prefix of an hour
}

// line is an encoded record with its newline.
type line struct {
	data   []byte
	hour   int64 // its start, in Unix seconds
	second int   // within the hour
	kind   string
	stored *bool // set after the line was stored; guarded by Writer.mu, nil without Sync
}

// NewWriter returns a Writer of the service's logs. The container must exist before the
// first flush. The names of the blobs start with service, which may contain slashes.
// NewWriter makes no request and starts no goroutine. Its error matches [patterns.ErrBadOption]
// or [patterns.ErrNil].
func NewWriter(client *container.Client, service string, opts *WriterOptions) (*Writer, error) {
	err := checkSource(client, service)
	if err != nil {
		return nil, fmt.Errorf("new log writer: %w", err)
	}
	o, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("new log writer: %w", err)
	}
	w := &Writer{
		container: client, service: service, options: o,
		flushing: make(chan struct{}, 1), next: map[string]int{},
	}
	w.background, w.cancel = context.WithCancel(context.Background())
	return w, nil
}

// Container returns the client that was passed to NewWriter.
func (w *Writer) Container() *container.Client { return w.container }

// Dropped returns how many records were dropped because the buffer was full, see
// [WriterOptions.Drop].
func (w *Writer) Dropped() uint64 { return w.dropped.Load() }

// Write adds the record to the buffer. With [WriterOptions.Sync] it returns after the
// record is stored.
//
// If Write returns nil, the record is stored exactly once unless the process dies before
// a flush. If the error matches [ErrPending], the record was accepted as well and will be
// stored by a later flush. With any other error the record was not accepted: a
// [*RecordError] if it cannot be stored, [ErrFull], [ErrClosed], or the end of ctx.
//
// Write makes no request without Sync unless the buffer is full. With Sync it makes one
// for all records that wait at the same time, two for the first of a new blob, and one a
// minute for the metadata.
func (w *Writer) Write(ctx context.Context, r Record) error {
	if ctx.Err() != nil {
		return fmt.Errorf("write log: %w", azerr.Seal(context.Cause(ctx)))
	}
	e := encodings.Get().(*encoding)
	defer e.release()
	e.record = r
	if err := e.record.normalizeAttrs(); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	return w.write(e, func() context.Context { return ctx })
}

// encoding is a record and the memory in which it is encoded. A Format receives a pointer
// to the record, so that a local one would be allocated for each Write.
type encoding struct {
	record Record
	attrs  []byte
	line   []byte
}

var encodings = sync.Pool{New: func() any { return new(encoding) }}

// maxKept is the capacity of the largest buffer that is kept for other records.
const maxKept = 64 << 10

func (e *encoding) release() {
	if cap(e.attrs) <= maxKept && cap(e.line) <= maxKept {
		e.record = Record{}
		encodings.Put(e)
	}
}

// write is Write of a record with normalized attributes. It calls contextOf only if it must
// wait for a flush.
func (w *Writer) write(e *encoding, contextOf func() context.Context) error {
	if err := e.record.normalize(); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	l, err := w.encode(e)
	if err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	if err := w.enqueue(l, contextOf); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	if !w.options.Sync {
		return nil
	}
	err = w.flush(contextOf(), false)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil || *l.stored {
		return nil
	}
	w.scheduleFlush(retryAfter)
	return fmt.Errorf("write log: %w: %w", ErrPending, err)
}

const secondsOfHour = int64(time.Hour / time.Second)

// encode returns the line of a record. Its data is valid until e is released.
func (w *Writer) encode(e *encoding) (line, error) {
	data, err := w.options.Format.AppendLine(e.line[:0], &e.record)
	if err != nil {
		return line{}, err
	}
	if bytes.IndexByte(data, '\n') >= 0 || len(data) == 0 {
		return line{}, &RecordError{Reason: "was encoded by its format as an empty line or several lines"}
	}
	if len(data) >= MaxBlock {
		return line{}, &RecordError{Reason: "is larger than a block", kind: patterns.ErrTooLarge}
	}
	e.line = append(data, '\n')
	second := e.record.Time.Unix() % secondsOfHour
	if second < 0 { // before 1970
		second += secondsOfHour
	}
	l := line{data: e.line, hour: e.record.Time.Unix() - second, second: int(second), kind: e.record.Type}
	if w.options.Sync {
		l.stored = new(bool)
	}
	return l, nil
}

// enqueue adds the line to the buffer, or waits for room.
func (w *Writer) enqueue(l line, contextOf func() context.Context) error {
	for {
		accepted, err := w.tryEnqueue(l)
		if accepted || err != nil {
			return err
		}
		if w.options.Drop {
			w.dropped.Add(1)
			return ErrFull
		}
		ctx := contextOf()
		if ctx.Err() != nil {
			return azerr.Seal(context.Cause(ctx))
		}
		if err := w.flush(ctx, false); err != nil {
			return fmt.Errorf("%w: %w", ErrFull, err)
		}
	}
}

func (w *Writer) tryEnqueue(l line) (accepted bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return false, ErrClosed
	case w.held+len(l.data) > w.options.BufferBytes:
		w.scheduleFlush(0)
		return false, nil
	}
	l.data = w.keep(l.data)
	w.buffer = append(w.buffer, l)
	w.buffered += len(l.data)
	w.held += len(l.data)
	switch {
	case w.options.Sync: // Write flushes
	case w.flushDue():
		w.scheduleFlush(0)
	case w.options.FlushAge > 0:
		w.scheduleFlush(w.options.FlushAge)
	}
	return true, nil
}

// roomSize is the memory that is allocated for the next lines together.
const roomSize = 64 << 10

// keep returns a copy of the data of a line. The caller holds mu.
func (w *Writer) keep(data []byte) []byte {
	if len(data) > cap(w.room)-len(w.room) {
		w.room = make([]byte, 0, max(roomSize, len(data)))
	}
	from := len(w.room)
	w.room = append(w.room, data...)
	return slices.Clip(w.room[from:])
}

// Flush stores the records that were accepted before it started, and updates the
// metadata of the blobs. Records that it could not store stay in the buffer. It makes
// one request for each hour and 4 MiB of records, one more for each new blob, and one
// for each blob with outdated metadata.
func (w *Writer) Flush(ctx context.Context) error {
	if err := w.flush(ctx, true); err != nil {
		return fmt.Errorf("flush log: %w", err)
	}
	return nil
}

// Close makes the Writer refuse further records, waits for a background flush that is in
// progress, and then flushes as [Writer.Flush] does. The end of ctx also ends the background
// flush. When Close returns, no goroutine of the Writer is running. After an error the
// records are still buffered, and Close can be called again.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	w.closed = true
	if w.timer != nil && w.timer.Stop() {
		w.timer = nil
		w.running.Done()
	}
	w.mu.Unlock()
	stop := context.AfterFunc(ctx, w.cancel)
	w.running.Wait()
	stop()
	if err := w.flush(ctx, true); err != nil {
		return fmt.Errorf("close log: %w", err)
	}
	return nil
}
