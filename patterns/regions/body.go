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
	b := &body{text: limit.GetBuffer(int(min(max(resp.ContentLength, 0), limit.MaxReply)) + bytes.MinRead)}
	text, err := limit.ReadAll(b.text, &arriving{resp.Body, a, 0}, limit.MaxReply)
	if a.err = err; err == nil && resp.StatusCode == http.StatusOK && int64(len(text)) < resp.ContentLength {
		a.err = io.ErrUnexpectedEOF // net/http has this error, other transports may not
	}
	if a.err == nil {
		b.Reset(text)
		a.resp, resp.Body = resp, b
	}
}

// arriving records when parts of a long body arrive.
type arriving struct {
	io.Reader
	of *reply
	n  int
}

func (r *arriving) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.n += n; r.n >= alivePart {
		r.n = 0
		r.of.alive.Store(int64(time.Since(r.of.began)))
	}
	return n, err
}
