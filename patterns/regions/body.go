package regions

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/azpatterns/azpatterns/internal/limit"
)

// alivePart is how many bytes of a body show that a region still sends.
const alivePart = 64 << 10

// body is a whole body. Its buffer is used again after the first Close.
type body struct {
	bytes.Reader
	text *[]byte
}

func (b *body) Close() error {
	if b.text != nil {
		limit.PutBuffer(b.text)
		b.text = nil
		b.Reset(nil)
	}
	return nil
}

// receive takes a reply with its whole body: the rest of a reply may take as long as a region that is
// down, or end early.
func (a *reply) receive(resp *http.Response, err error) {
	if a.err = err; err != nil {
		return
	}
	defer resp.Body.Close()
	a.body = resp.Body
	b := &body{text: limit.GetBuffer(int(min(max(resp.ContentLength, 0), limit.MaxReply)) + bytes.MinRead)}
	text, err := limit.ReadAll(b.text, a, limit.MaxReply)
	if a.err = err; err == nil && resp.StatusCode == http.StatusOK && int64(len(text)) < resp.ContentLength {
		a.err = io.ErrUnexpectedEOF // net/http has this error, other transports may not
	}
	if a.err == nil {
		b.Reset(text)
		a.resp, resp.Body = resp, b
	}
}

// Read reads the body, and records when parts of a long one arrive.
func (a *reply) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	if a.part += n; a.part >= alivePart {
		a.part = 0
		a.alive.Store(int64(time.Since(a.began)))
	}
	return n, err
}
