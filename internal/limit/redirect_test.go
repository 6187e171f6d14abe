package limit

import (
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/azpatterns/azpatterns/internal/assert"
)

// A redirect would send the SAS of the address in Referer, and after 307 and 308 the body.
func TestNoOtherHostReceivesTheSASOrTheBody(t *testing.T) {
	var referer, content atomic.Value
	var reached atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		text, _ := io.ReadAll(r.Body)
		referer.Store(r.Referer())
		content.Store(string(text))
	}))
	defer other.Close()
	var status atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, int(status.Load()))
	}))
	defer service.Close()
	for name, client := range map[string]policy.Transporter{
		"limited":               Transport(nil),
		"unlimited":             Unlimited(nil),
		"the caller's, limited": Transport(&http.Client{}),
		"the caller's":          Unlimited(&http.Client{}),
	} {
		for _, code := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
				status.Store(int64(code))
				req := assert.Must(http.NewRequest(method, service.URL+"/people?sig=secret", strings.NewReader("row")))(t)
				resp := assert.Must(client.Do(req))(t)
				resp.Body.Close()
				if n := reached.Swap(0); n > 0 {
					t.Errorf("%s: %s, %d: the other host received %d requests, the Referer %q and the body %q", name, method, code, n, referer.Load(), content.Load())
				}
				assert.Equal(t, resp.StatusCode, code, name, method, "the status")
			}
		}
	}
}

func TestTheRedirectsOfTheCallersClientStayItsOwn(t *testing.T) {
	own := &http.Client{}
	if Unlimited(own); own.CheckRedirect != nil {
		t.Error("the caller's client was changed")
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return nil }
	if reflect.ValueOf(Unlimited(own).(*network).client.CheckRedirect).Pointer() != reflect.ValueOf(own.CheckRedirect).Pointer() {
		t.Error("the decision of the caller was replaced")
	}
}
