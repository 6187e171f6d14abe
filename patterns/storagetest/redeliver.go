package storagetest

import (
	"bytes"
	"io"
	"net/http"
)

// noMessages is the reply of a queue without visible messages.
const noMessages = `<?xml version="1.0" encoding="utf-8"?><QueueMessagesList />`

// keepReply stores the reply to a Get, for the next Get from the same queue.
func (a *attempt) keepReply(res *http.Response) error {
	b, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // it was read
	if err != nil {
		return err
	}
	res.Body = io.NopCloser(bytes.NewReader(b))
	a.t.mu.Lock()
	defer a.t.mu.Unlock()
	if a.t.repeats == nil {
		a.t.repeats = map[string]*http.Response{}
	}
	a.t.repeats[a.q.Resource] = newReply(nil, res.StatusCode, res.Header.Clone(), b)
	return nil
}

// repeated returns the reply that was stored for a queue, once.
func (t *transport) repeated(queue string) *http.Response {
	t.mu.Lock()
	defer t.mu.Unlock()
	res := t.repeats[queue]
	delete(t.repeats, queue)
	return res
}
