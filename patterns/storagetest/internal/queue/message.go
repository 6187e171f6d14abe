package queue

import (
	"cmp"
	"container/heap"
	"encoding/base64"
	"encoding/binary"
	"slices"
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

// ordered is a heap of messages.
type ordered struct {
	list   []*message
	before func(a, b *message) bool
	index  func(*message) *int // where a message contains its index
}

func (h *ordered) Len() int           { return len(h.list) }
func (h *ordered) Less(i, j int) bool { return h.before(h.list[i], h.list[j]) }

func (h *ordered) Swap(i, j int) {
	h.list[i], h.list[j] = h.list[j], h.list[i]
	*h.index(h.list[i]), *h.index(h.list[j]) = i, j
}

func (h *ordered) Push(x any) {
	m := x.(*message)
	*h.index(m) = len(h.list)
	h.list = append(h.list, m)
}

func (h *ordered) Pop() any {
	last := len(h.list) - 1
	m := h.list[last]
	h.list = slices.Delete(h.list, last, last+1)
	return m
}

// box contains the messages of one queue.
type box struct {
	byID    map[string]*message
	visible ordered // by the time at which they become visible
	expiry  ordered
}

func newBox() box {
	return box{
		byID: map[string]*message{},
		visible: ordered{index: func(m *message) *int { return &m.visibleAt }, before: func(a, b *message) bool {
			return cmp.Or(a.visible.Compare(b.visible), cmp.Compare(a.order, b.order)) < 0
		}},
		expiry: ordered{index: func(m *message) *int { return &m.expiresAt }, before: func(a, b *message) bool {
			return a.expires.Before(b.expires)
		}},
	}
}

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
	for b.expiry.Len() > 0 && !now.Before(b.expiry.list[0].expires) {
		b.remove(b.expiry.list[0])
	}
}

// front calls use for up to n visible messages, in the order in which they became
// visible. use may change when the message is visible.
func (b *box) front(now time.Time, n int, use func(*message)) {
	var taken []*message
	for len(taken) < n && b.visible.Len() > 0 && !now.Before(b.visible.list[0].visible) {
		taken = append(taken, heap.Pop(&b.visible).(*message))
	}
	for _, m := range taken {
		use(m)
		heap.Push(&b.visible, m)
	}
}
