package storagetest

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
)

// The services keep the case of the names of metadata, and some clients find their metadata only by it. Package net/http
// changes the case of the names of headers. Therefore the listener of a [Server] remembers how the names were written.

// metaPrefix begins the names of headers that contain metadata.
const metaPrefix = "x-ms-meta-"

// namingListener accepts connections that remember the names of metadata.
type namingListener struct{ net.Listener }

func (l namingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &namingConn{Conn: c, names: map[string]string{}}, nil
}

// namingConn is a connection that remembers the names of metadata that it has read.
type namingConn struct {
	net.Conn

	mu    sync.Mutex
	names map[string]string // as written, by the name in lower case
	tail  []byte            // the end of what was read, in which a line may begin
}

// maxNames limits the names that a connection remembers, and maxNameLine the length of a line that is kept until it is complete.
const (
	maxNames    = 1000
	maxNameLine = 1 << 10
)

func (c *namingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.note(p[:n])
	return n, err
}

// note remembers the names in b, which follows what was read before. A line of a body that looks like a header does no harm: names are
// looked up only by the headers that net/http found.
func (c *namingConn) note(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := append(c.tail, b...)
	for {
		line, rest, complete := bytes.Cut(text, []byte("\n"))
		if !complete {
			break
		}
		c.noteLine(line)
		text = rest
	}
	if len(text) > maxNameLine {
		text = text[:0]
	}
	c.tail = append([]byte(nil), text...)
}

func (c *namingConn) noteLine(line []byte) {
	name, _, isHeader := bytes.Cut(line, []byte(":"))
	if !isHeader || len(name) <= len(metaPrefix) || !strings.EqualFold(string(name[:len(metaPrefix)]), metaPrefix) {
		return
	}
	if len(c.names) >= maxNames {
		clear(c.names)
	}
	c.names[strings.ToLower(string(name))] = string(name)
}

func (c *namingConn) written(name string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	as, ok := c.names[strings.ToLower(name)]
	return as, ok
}

type connKey struct{}

// withNames returns a context that contains the connection.
func withNames(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// asSent returns the headers of a request with the names of metadata as the client wrote them.
func asSent(ctx context.Context, h http.Header) http.Header {
	c, ok := ctx.Value(connKey{}).(*namingConn)
	if !ok {
		return h
	}
	out := make(http.Header, len(h))
	for name, values := range h {
		if as, ok := c.written(name); ok {
			name = metaPrefix + as[len(metaPrefix):]
		}
		out[name] = values
	}
	return out
}
