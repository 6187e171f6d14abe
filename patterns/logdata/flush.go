package logdata

import (
	"context"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
)

// retryAfter is the delay before a failed flush is tried again in the background.
const retryAfter = time.Second

// scheduleFlush makes a background flush start after delay, or earlier if one is
// already scheduled earlier. The caller holds mu.
func (w *Writer) scheduleFlush(delay time.Duration) {
	if w.closed {
		return
	}
	if w.timer == nil {
		w.running.Add(1)
		w.timer = time.AfterFunc(delay, w.backgroundFlush)
		return
	}
	// A flush that is already running cannot be stopped; it checks the buffer when it ends.
	if delay == 0 && w.timer.Stop() {
		w.timer.Reset(0)
	}
}

func (w *Writer) backgroundFlush() {
	defer w.running.Done()
	err := w.flush(w.background, false)
	if err != nil && w.background.Err() == nil && w.options.OnError != nil {
		w.options.OnError(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = nil
	switch {
	case err != nil:
		w.scheduleFlush(max(retryAfter, w.options.FlushAge))
	case w.flushDue():
		w.scheduleFlush(0)
	case len(w.buffer) > 0 && w.options.FlushAge > 0:
		w.scheduleFlush(w.options.FlushAge)
	}
}

// flushDue reports whether the buffer contains enough for a flush. The caller holds mu.
func (w *Writer) flushDue() bool {
	return len(w.buffer) >= w.options.FlushRecords || w.buffered >= w.options.FlushBytes
}

// block is the content of one append: lines of one hour.
type block struct {
	hour   time.Time
	data   []byte
	lines  int
	span   span
	kinds  map[string]bool
	kind   string  // of the last line
	stored []*bool // of the lines, if they have it
	open   error   // the reason that an append of it may be carried out; nil if none may
}

// flush stores the pending block and the lines that are in the buffer now. Only one
// flush runs at a time.
func (w *Writer) flush(ctx context.Context, allMetadata bool) error {
	select {
	case w.flushing <- struct{}{}:
	case <-ctx.Done():
		return azerr.Seal(context.Cause(ctx))
	}
	defer func() { <-w.flushing }()
	// Only the lines that are buffered now: others may write faster than this appends.
	w.mu.Lock()
	left := len(w.buffer)
	w.mu.Unlock()
	for {
		if w.pending == nil {
			if left == 0 {
				break
			}
			w.pending = w.takeBlock(left)
			left -= w.pending.lines
		}
		if err := w.store(ctx, w.pending); err != nil {
			return sdkerr.StillUnknown(err, causeOr(ctx, err))
		}
		w.releasePending()
	}
	w.updateMetadata(ctx, allMetadata)
	return nil
}

// takeBlock moves lines from the first n lines of the buffer to a new block: those of
// the first line's hour, up to MaxBlock.
func (w *Writer) takeBlock(n int) *block {
	w.mu.Lock()
	defer w.mu.Unlock()
	hour := w.buffer[0].hour
	b := &block{hour: time.Unix(hour, 0).UTC(), kinds: map[string]bool{}, data: make([]byte, 0, min(w.buffered, MaxBlock))}
	kept := w.buffer[:0]
	full := false
	for i := range w.buffer {
		l := &w.buffer[i]
		// After the first line of the hour that does not fit, later ones stay in the buffer
		// too, so that lines keep their order.
		full = full || l.hour == hour && len(b.data)+len(l.data) > MaxBlock
		if i >= n || full || l.hour != hour {
			kept = append(kept, *l)
			continue
		}
		b.add(l)
	}
	clear(w.buffer[len(kept):])
	w.buffer = kept
	w.buffered -= len(b.data)
	return b
}

// add adds a line to the block, for which there is room.
func (b *block) add(l *line) {
	s := span{int64(len(l.data)), l.second, l.second}
	if b.lines > 0 {
		s = b.span.join(s)
	}
	if b.lines == 0 || l.kind != b.kind {
		b.kind = l.kind
		b.kinds[l.kind] = true
	}
	b.span, b.lines, b.data = s, b.lines+1, append(b.data, l.data...)
	if l.stored != nil {
		b.stored = append(b.stored, l.stored)
	}
}

// releasePending removes the pending block after it was stored.
func (w *Writer) releasePending() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, stored := range w.pending.stored {
		*stored = true
	}
	w.held -= len(w.pending.data)
	w.pending = nil
}
