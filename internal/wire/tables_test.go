package wire

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// samePage replies to every request with the same page and the same token.
type samePage struct{ requests int }

func (a *samePage) Do(req *http.Request) (*http.Response, error) {
	a.requests++
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"X-Ms-Continuation-Nexttablename": {"token"}},
		Body:       io.NopCloser(strings.NewReader(`{"value":[{"TableName":"one"}]}`)),
		Request:    req,
	}, nil
}

func TestListTablesEndsIfAPageRepeats(t *testing.T) {
	var transport samePage
	opts := &aztables.ClientOptions{}
	opts.Transport = &transport
	service, err := aztables.NewServiceClientWithNoCredential("https://account.table.storagetest.invalid", opts)
	if err != nil {
		t.Fatal(err)
	}
	names, last := 0, error(nil)
	for _, err := range ListTables(t.Context(), service, "") {
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
