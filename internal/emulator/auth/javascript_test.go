package auth_test

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/emulator/auth"
)

// testdata/javascript.json holds requests as @azure/data-tables 13.3.2,
// @azure/storage-queue 12.30.0 and @azure/storage-blob 12.32.0 sent them over a
// socket, signed with the key of these tests: shared key, and SAS made by the
// packages' own helpers.
//
// The five requests to the queue jobs are not as they were sent: the queue had another
// name, and they were signed anew, by this package, when it was changed. The packages'
// own shared key signatures for queues are checked by internal/conformance, which runs
// them against the account; their SAS for queues are not.
func TestRequestsOfTheJavaScriptSDKsAreAccepted(t *testing.T) {
	data, err := os.ReadFile("testdata/javascript.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded []struct {
		Service, Name, Method, URL string
		Headers                    map[string]string
	}
	if err := json.Unmarshal(data, &recorded); err != nil {
		t.Fatal(err)
	}
	services := map[string]auth.Service{"table": auth.Table, "queue": auth.Queue, "blob": auth.Blob}
	kinds := make(map[auth.Kind]int)
	for _, rec := range recorded {
		t.Run(rec.Service+"/"+rec.Name, func(t *testing.T) {
			r, err := http.NewRequest(rec.Method, "https://127.0.0.1:10000"+rec.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range rec.Headers {
				r.Header.Set(name, value)
			}
			v := verifier()
			if date := r.Header.Get("x-ms-date"); date != "" {
				at, err := http.ParseTime(date)
				if err != nil {
					t.Fatal(err)
				}
				v.Now = func() time.Time { return at }
			}
			g, refusal := v.Verify(r, services[rec.Service])
			wantCode(t, refusal, 0, "")
			kinds[g.Kind()]++

			v.Keys = v.Keys[:1]
			_, refusal = v.Verify(r, services[rec.Service])
			wantCode(t, refusal, 403, "AuthenticationFailed")
		})
	}
	for _, kind := range []auth.Kind{auth.SharedKey, auth.ServiceSAS, auth.AccountSAS} {
		if kinds[kind] == 0 {
			t.Errorf("no request of kind %d", kind)
		}
	}
}
