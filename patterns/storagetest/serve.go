package storagetest

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// Handler returns a handler that serves the account, for the caller's own server. The host
// of a request selects the service: AccountName.table.…, AccountName.queue.…,
// AccountName.blob.…. The rules of the account apply to these requests, and its log contains
// them. A lost request or reply breaks the connection. Package net/http changes the case of the names of metadata
// before the handler receives them; those that a [Server] receives keep it.
func (a *Account) Handler() http.Handler { return a.handler("") }

// maxUnread is the size of the largest body, in bytes, that is read although the service
// refuses the request without reading it.
const maxUnread = 64 << 20

const (
	// maxHeader is how long a client may take for the header of a request. Another program can
	// reach the ports too, and would otherwise occupy connections for as long as it likes.
	maxHeader = 10 * time.Second

	// maxIdle is much longer than the 90 seconds for which Go keeps an idle connection: the
	// client should close it, as a request that the server's close meets fails.
	maxIdle = 10 * time.Minute
)

// handler serves one service or, if s is "", the one that the host selects.
func (a *Account) handler(s op.Service) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := request.Served(r.Context())
		if s != "" {
			ctx = request.WithService(ctx, s)
		}
		out := r.WithContext(ctx)
		out.RequestURI = ""
		if r.Body != http.NoBody {
			out.Body = io.NopCloser(r.Body) // the rest is read below
		}
		out.Header = asSent(ctx, r.Header)
		out.URL = new(url.URL)
		*out.URL = *r.URL
		out.URL.Scheme, out.URL.Host = "http", r.Host
		if r.TLS != nil {
			out.URL.Scheme = "https"
		}
		res, err := a.script().Do(out)
		if err != nil {
			panic(http.ErrAbortHandler) // makes net/http break the connection
		}
		defer res.Body.Close()
		if r.ContentLength <= maxUnread {
			// Without the rest of the body net/http would close the connection, and a
			// client that is still sending would receive a reset in place of the reply.
			_, _ = io.CopyN(io.Discard, r.Body, maxUnread) // the reply does not depend on it
		}
		for name, values := range res.Header {
			w.Header()[name] = values
		}
		if res.Header["Content-Type"] == nil {
			w.Header()["Content-Type"] = nil // so that net/http does not guess it
		}
		w.WriteHeader(res.StatusCode)
		if _, err := io.Copy(w, res.Body); err != nil {
			_ = http.NewResponseController(w).Flush() // the part before the break is delivered
			panic(http.ErrAbortHandler)
		}
	})
}

// Server serves an account on loopback sockets, one for each service, to other processes
// and other languages. As in Azurite, the account is part of the path. Requests whose host
// begins with the account, such as devstoreaccount1.blob.localhost with the port of BlobsURL,
// are for the account too, without it in the path. A Server is safe for concurrent use.
type Server struct {
	TablesURL string // http://127.0.0.1:port/devstoreaccount1
	QueuesURL string
	BlobsURL  string

	servers []*http.Server
	done    sync.WaitGroup
}

// Serve serves the account on free ports of the loopback interface until Close is called,
// or, for an account of [New], until the test ends. It closes a connection that does not send
// the header of a request within 10 seconds of its start, or no request for 10 minutes.
func (a *Account) Serve() (*Server, error) {
	s := &Server{}
	for service, address := range map[op.Service]*string{
		op.Table: &s.TablesURL, op.Queue: &s.QueuesURL, op.Blob: &s.BlobsURL,
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		*address = "http://" + l.Addr().String() + "/" + AccountName
		server := &http.Server{Handler: a.handler(service), ReadHeaderTimeout: maxHeader, IdleTimeout: maxIdle, ConnContext: withNames}
		s.servers = append(s.servers, server)
		s.done.Go(func() { _ = server.Serve(namingListener{l}) }) // it ends with ErrServerClosed
	}
	a.mu.Lock()
	a.servers = append(a.servers, s)
	a.mu.Unlock()
	return s, nil
}

// ConnectionString returns the connection string with which any Azure SDK can use the
// account.
func (s *Server) ConnectionString() string {
	return connectionString("http", s.TablesURL, s.QueuesURL, s.BlobsURL)
}

// Close ends every connection and frees the ports. The account keeps its data.
func (s *Server) Close() error {
	var errs []error
	for _, server := range s.servers {
		errs = append(errs, server.Close())
	}
	s.done.Wait()
	return errors.Join(errs...)
}
