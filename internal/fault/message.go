package fault

import (
	"bytes"
	"io"
	"net/http"
)

// noMessages is what a queue answers that has none to give.
const noMessages = `<?xml version="1.0" encoding="utf-8"?><QueueMessagesList />`

// shape changes a read as its rules say, and returns the answer where the
// request is not to be carried out.
func (t *Transport) shape(req *http.Request, q *Request, e effect) *http.Response {
	switch q.Op {
	case TableQuery, TableList:
		if again := shapePage(req, e); e.empty && !again {
			return emptyPage(req, q)
		}
	case QueueGet:
		if res := t.replay(q.Resource); res != nil {
			t.note(func() { q.Fault += ".Redelivered" })
			return res
		}
		fallthrough
	case QueuePeek:
		if e.late {
			return answer(req, http.StatusOK, http.Header{"Content-Type": {"application/xml"}}, []byte(noMessages))
		}
	}
	return nil
}

// keep remembers the answer of a Get to give it again.
func (t *Transport) keep(queue string, res *http.Response) error {
	b, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // it was read
	if err != nil {
		return err
	}
	res.Body = io.NopCloser(bytes.NewReader(b))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept == nil {
		t.kept = map[string]*http.Response{}
	}
	t.kept[queue] = answer(nil, res.StatusCode, res.Header.Clone(), b)
	return nil
}

// replay returns the answer that is to be given again, once.
func (t *Transport) replay(queue string) *http.Response {
	t.mu.Lock()
	defer t.mu.Unlock()
	res := t.kept[queue]
	delete(t.kept, queue)
	return res
}
