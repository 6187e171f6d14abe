package limit

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

func TestTheLimitCountsDecompressedBytes(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.CopyN(z, zero{}, 4*MaxReply) // fails when the client has enough
		_ = z.Close()
	}))
	defer server.Close()
	resp, err := Transport(nil).Do(request(http.MethodGet, server.URL+"/box?comp=list", "application/xml"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); n != MaxReply || !errors.Is(err, azerr.ErrBadReply) {
		t.Errorf("%d bytes: %v", n, err)
	}
}

func TestHugeHeadersAreRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Huge", strings.Repeat("x", 2*maxHeaders))
	}))
	defer server.Close()
	if resp, err := Transport(nil).Do(request(http.MethodGet, server.URL, "")); err == nil {
		resp.Body.Close()
		t.Error("no error")
	}
}
