package sdkerr

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// reply is the SDK's error for a request whose address contains a key.
func reply() error {
	req := httptest.NewRequest(http.MethodGet, "https://account.table.core.windows.net/T(PartitionKey='secret')", nil)
	return &azcore.ResponseError{StatusCode: 404, ErrorCode: "ResourceNotFound",
		RawResponse: &http.Response{StatusCode: 404, Status: "404 Not Found", Body: http.NoBody, Request: req}}
}

func TestAnErrorMatchesItsSentinelAndTheErrorOfTheSDK(t *testing.T) {
	e := New("get", reply())
	var sdk *azcore.ResponseError
	if e.Op != "get" || e.Status != 404 || e.Code != "ResourceNotFound" || !errors.Is(e, azerr.ErrNotFound) || !errors.As(e, &sdk) {
		t.Errorf("%#v", e)
	}
	if other := WithKind(e, azerr.ErrOutcomeUnknown); errors.Is(other, azerr.ErrNotFound) || !errors.Is(other, azerr.ErrOutcomeUnknown) || !errors.Is(e, azerr.ErrNotFound) {
		t.Errorf("%v, %v", other, e)
	}
}

func TestMessagesContainNoKeys(t *testing.T) {
	address := &url.Error{Op: "Get", URL: "https://account/T(PartitionKey='secret')", Err: io.ErrUnexpectedEOF}
	for want, e := range map[string]*types.Error{
		"get: not found (404 ResourceNotFound)":                    New("get", reply()),
		"get: refused by the service (404 ResourceNotFound)":       WithKind(New("get", reply()), nil),
		"get: unexpected EOF":                                      New("get", address),
		"get: reply of the service cannot be read: unexpected EOF": WithKind(New("get", address), azerr.ErrBadReply),
	} {
		for _, verb := range []string{"%v", "%s"} {
			assert.Equal(t, fmt.Sprintf(verb, e), want, verb)
		}
		if got := fmt.Sprintf("%+v", e); !strings.HasPrefix(got, want) || !strings.Contains(got, "secret") {
			t.Errorf("%%+v: got %q", got)
		}
	}
	assert.Equal(t, (&types.Error{Op: "get"}).Error(), "get: failed")
}
