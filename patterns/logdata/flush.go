package logdata

import (
	"context"
	"time"
)

// retryAfter is when a flush that failed is tried again, if no other comes before.
const retryAfter = time.Second

// wake lets a flush that nobody waits for begin after the given time, or sooner if
// one is planned already. The caller has mu.
func (w *Writer) wake(after time.Duration) {
	if w.closed {
		return
	}
	if w.timer == nil {
		w.running.Add(1)
		w.timer = time.AfterFunc(after, w.flushUnasked)
		return
	}
	// One that runs already cannot be stopped, and looks at the buffer when it ends.
	if after == 0 && w.timer.Stop() {
		w.timer.Reset(0)
	}
}

func (w *Writer) flushUnasked() {
	defer w.running.Done()
	err := w.flush(w.background, false)
	if err != nil && w.background.Err() == nil && w.o.OnError != nil {
		w.o.OnError(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = nil
	switch {
	case err != nil:
		w.wake(max(retryAfter, w.o.FlushAge))
	case w.due():
		w.wake(0)
	case len(w.buffer) > 0 && w.o.FlushAge > 0:
		w.wake(w.o.FlushAge)
	}
}

// block is what one append stores: lines of one hour.
type block struct {
	hour  time.Time
	data  []byte
	lines []*line
	span  span
	kinds map[string]bool
}

// flush stores the block under way and what the buffer has now. One at a time does.
func (w *Writer) flush(ctx context.Context, metadata bool) error {
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-w.turn }()
	// Not more than there is now, for others may write faster than this stores.
	w.mu.Lock()
	left := len(w.buffer)
	w.mu.Unlock()
	for {
		if w.block == nil {
			if left == 0 {
				break
			}
			w.block = w.cut(left)
			left -= len(w.block.lines)
		}
		if err := w.store(ctx, w.block); err != nil {
			return interrupted(ctx, err)
		}
		w.done()
	}
	w.note(ctx, metadata)
	return nil
}

// cut takes a block out of the first n lines of the buffer: those of the first one's
// hour, up to what a block can have.
func (w *Writer) cut(n int) *block {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := &block{hour: w.buffer[0].hour, kinds: map[string]bool{}}
	kept := w.buffer[:0]
	size, full := 0, false
	for i, l := range w.buffer {
		// Once a line of the hour did not fit, later ones keep their place behind it.
		full = full || l.hour.Equal(b.hour) && size+len(l.data) > MaxBlock
		if i >= n || full || !l.hour.Equal(b.hour) {
			kept = append(kept, l)
			continue
		}
		size += len(l.data)
		b.lines = append(b.lines, l)
	}
	clear(w.buffer[len(kept):])
	w.buffer = kept
	w.waits -= size
	b.data = make([]byte, 0, size)
	for i, l := range b.lines {
		s := span{int64(len(l.data)), l.second, l.second}
		if i > 0 {
			s = join(b.span, s)
		}
		b.span = s
		b.kinds[l.kind] = true
		b.data = append(b.data, l.data...)
	}
	return b
}

// done lets go of the block, which is stored.
func (w *Writer) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.block.lines {
		l.stored = true
	}
	w.held -= len(w.block.data)
	w.block = nil
}
