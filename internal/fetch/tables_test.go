package fetch

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
)

// repeat answers every request with the same page and token.
type repeat struct{ requests int }

func (r *repeat) Do(req *http.Request) (*http.Response, error) {
	r.requests++
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"X-Ms-Continuation-Nexttablename": {"token"}},
		Body:       io.NopCloser(strings.NewReader(`{"value":[{"TableName":"one"}]}`)),
		Request:    req,
	}, nil
}

func TestAListOfTablesThatRepeatsItsTokenEnds(t *testing.T) {
	var transport repeat
	opts := &aztables.ClientOptions{}
	opts.Transport = &transport
	service := assert.Must(aztables.NewServiceClientWithNoCredential("https://account.table.storagetest.invalid", opts))(t)
	names, last := 0, error(nil)
	for _, err := range Tables(t.Context(), service, "") {
		if last = err; err == nil {
			names++
		}
		if names > 10 {
			t.Fatal("it never ends")
		}
	}
	if !errors.Is(last, azerr.ErrBadReply) || names != 1 || transport.requests != 2 {
		t.Errorf("%d names in %d requests, %v", names, transport.requests, last)
	}
}
