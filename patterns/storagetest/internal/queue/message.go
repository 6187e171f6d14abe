package queue

import (
	"container/heap"
	"encoding/base64"
	"encoding/binary"
	"time"
)

// never is the expiry of a message put with messagettl=-1, as the service returns it.
var never = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

type message struct {
	id       string
	text     string
	receipt  string
	inserted time.Time
	expires  time.Time
	visible  time.Time // invisible before
	dequeued int64
	order    int64 // orders messages that become visible at the same time

	visibleAt, expiresAt int // indexes in the two heaps of its queue
}

// receipt returns an opaque pop receipt for a number that is used only once.
func receipt(n int64) string {
	return base64.StdEncoding.EncodeToString(binary.LittleEndian.AppendUint64([]byte{2, 0, 0, 0, 3, 0, 0, 0}, uint64(n)))
}

// byVisible is a heap of messages, ordered by the time at which they become visible.
type byVisible []*message

func (h byVisible) Len() int { return len(h) }

func (h byVisible) Less(i, j int) bool {
	if c := h[i].visible.Compare(h[j].visible); c != 0 {
		return c < 0
	}
	return h[i].order < h[j].order
}

func (h byVisible) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].visibleAt, h[j].visibleAt = i, j
}

func (h *byVisible) Push(x any) {
	m := x.(*message)
	m.visibleAt = len(*h)
	*h = append(*h, m)
}

func (h *byVisible) Pop() any {
	last := len(*h) - 1
	m := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return m
}

// byExpiry is a heap of messages, ordered by their expiry.
type byExpiry []*message

func (h byExpiry) Len() int           { return len(h) }
func (h byExpiry) Less(i, j int) bool { return h[i].expires.Before(h[j].expires) }

func (h byExpiry) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].expiresAt, h[j].expiresAt = i, j
}

func (h *byExpiry) Push(x any) {
	m := x.(*message)
	m.expiresAt = len(*h)
	*h = append(*h, m)
}

func (h *byExpiry) Pop() any {
	last := len(*h) - 1
	m := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return m
}

// box contains the messages of one queue.
type box struct {
	byID    map[string]*message
	visible byVisible
	expiry  byExpiry
}

func newBox() box { return box{byID: map[string]*message{}} }

func (b *box) add(m *message) {
	b.byID[m.id] = m
	heap.Push(&b.visible, m)
	heap.Push(&b.expiry, m)
}

func (b *box) remove(m *message) {
	delete(b.byID, m.id)
	heap.Remove(&b.visible, m.visibleAt)
	heap.Remove(&b.expiry, m.expiresAt)
}

// sweep removes expired messages.
func (b *box) sweep(now time.Time) {
	for len(b.expiry) > 0 && !now.Before(b.expiry[0].expires) {
		b.remove(b.expiry[0])
	}
}

// front calls use for up to n visible messages, in the order in which they became
// visible. use may change when the message is visible.
func (b *box) front(now time.Time, n int, use func(*message)) {
	var taken []*message
	for len(taken) < n && len(b.visible) > 0 && !now.Before(b.visible[0].visible) {
		taken = append(taken, heap.Pop(&b.visible).(*message))
	}
	for _, m := range taken {
		use(m)
		heap.Push(&b.visible, m)
	}
}
