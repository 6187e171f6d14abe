package auth_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/auth"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

const account = "acct"

var (
	key     = []byte("0123456789abcdef0123456789abcdef")
	key64   = base64.StdEncoding.EncodeToString(key)
	noRetry = policy.RetryOptions{MaxRetries: -1}
)

func verifier() *auth.Verifier {
	return &auth.Verifier{Account: account, Keys: [][]byte{[]byte("the other key"), key}}
}

// verify verifies r, sent to the service s.
func verify(v *auth.Verifier, r *http.Request, s op.Service) (auth.Grant, *reply.Error) {
	parser := request.Parser{Account: account}
	parsed, _ := parser.Parse(r.WithContext(request.WithService(r.Context(), s)))
	return v.Verify(parsed)
}

// allowBlob checks a request on a blob, which exists if exists is true.
func allowBlob(g auth.Grant, o op.Op, exists bool, container, blob string) *reply.Error {
	return g.AllowBlob(&request.Request{Service: op.Blob, Op: o, Resource: container, Name: blob}, func() bool { return exists })
}

// endpoints are the two ways to address a service of the account.
func endpoints(s op.Service) map[string]string {
	return map[string]string{
		"host": "https://" + account + "." + s.Path() + ".core.windows.net",
		"path": "https://127.0.0.1:10000/" + account,
	}
}

// capture is a transport that refuses every request and stores the last one in two forms:
// as the client built it, and as a server parses it from a socket.
type capture struct {
	t     *testing.T
	last  *http.Request // as from a socket
	plain *http.Request // as from an in-process transport
}

// verify runs check on both forms of the last request.
func (c *capture) verify(name string, s op.Service, check func(t *testing.T, r *http.Request, g auth.Grant, refusal *reply.Error)) {
	c.t.Helper()
	for form, r := range map[string]*http.Request{"socket": c.last, "in process": c.plain} {
		c.t.Run(name+"/"+form, func(t *testing.T) {
			g, refusal := verify(verifier(), r, s)
			check(t, r, g, refusal)
		})
	}
}

func (c *capture) Do(r *http.Request) (*http.Response, error) {
	c.last, c.plain = overTheWire(c.t, r), r
	return &http.Response{
		StatusCode: http.StatusForbidden,
		Header:     http.Header{},
		Body:       io.NopCloser(strings.NewReader("")),
		Request:    r,
	}, nil
}

// overTheWire returns r as a server receives it from a socket.
func overTheWire(t *testing.T, r *http.Request) *http.Request {
	t.Helper()
	var b bytes.Buffer
	assert.NoError(t, r.Write(&b))
	got := assert.Must(readRequest(&b))(t)
	got.URL.Scheme = r.URL.Scheme // represents TLS
	return got
}

// token is a credential for bearer tokens.
type token string

func (k token) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(k), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func sign(text string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// wantCode checks the status and code of refusal. If code is "", refusal must be nil.
func wantCode(t *testing.T, refusal *reply.Error, status int, code string) {
	t.Helper()
	switch {
	case code == "" && refusal != nil:
		t.Errorf("refused: %d %v", refusal.Status, refusal)
	case code != "" && refusal == nil:
		t.Errorf("allowed, want %s", code)
	case code != "" && (refusal.Code != code || refusal.Status != status):
		t.Errorf("refused with %d %v, want %d %s", refusal.Status, refusal, status, code)
	}
}
