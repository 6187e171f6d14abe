package wire

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	azruntime "github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/limit"
)

// Policies of the SDK change the headers of a request too. Wherever the caller puts one, the
// requests are those of a client that keeps none.
func TestAHeaderThatAPolicyOfTheSDKAddsBelongsToOneCall(t *testing.T) {
	id := regexp.MustCompile(`(?m)^X-Ms-Client-Request-Id: .*$`)
	for name, p := range map[string]func() policy.Policy{
		"request ID": azruntime.NewRequestIDPolicy,
		"telemetry":  func() policy.Policy { return azruntime.NewTelemetryPolicy("mine", "v1.0.0", nil) },
		"retry":      func() policy.Policy { return azruntime.NewRetryPolicy(&policy.RetryOptions{MaxRetries: -1}) },
		"API key": func() policy.Policy {
			return azruntime.NewKeyCredentialPolicy(azcore.NewKeyCredential("key"), "X-Key", nil)
		},
	} {
		for place, add := range map[string]func(*aztables.ClientOptions){
			"first per call": func(o *aztables.ClientOptions) {
				o.PerCallPolicies = append([]policy.Policy{p()}, o.PerCallPolicies...)
			},
			"last per call": func(o *aztables.ClientOptions) { o.PerCallPolicies = append(o.PerCallPolicies, p()) },
			"first per try": func(o *aztables.ClientOptions) {
				o.PerRetryPolicies = append([]policy.Policy{p()}, o.PerRetryPolicies...)
			},
			"last per try": func(o *aztables.ClientOptions) { o.PerRetryPolicies = append(o.PerRetryPolicies, p()) },
			"instead of the SDK's": func(o *aztables.ClientOptions) {
				o.Telemetry.Disabled = true
				o.PerCallPolicies = append(o.PerCallPolicies, p())
			},
		} {
			t.Run(name+" "+place, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { // the time of all signatures is the same
					sent, c := keeping(t, add)
					reference, other := keeping(t, add)
					other.noKept.Store(true)
					for _, c := range []*Client{c, other} { // they know their modes then
						assert.NoError(t, requests(c, "p", "r")["get"](t.Context()))
					}
					ids := map[string]bool{}
					for range 3 {
						for what := range requests(nil, "", "") {
							for _, c := range []*Client{c, other} {
								assert.NoError(t, requests(c, "p", "r")[what](t.Context()))
							}
							got, want := sent.last(), reference.last()
							if line := id.FindString(got); line != "" && ids[line] {
								t.Errorf("%s: two calls have the same %s", what, line)
							} else {
								ids[line] = true
							}
							assert.Equal(t, id.ReplaceAllString(got, ""), id.ReplaceAllString(want, ""), what, got, "aztables", want)
						}
					}
				})
			})
		}
	}
}

// resending is a policy that sends every request twice, as after a challenge.
type resending struct{}

func (resending) Do(req *policy.Request) (*http.Response, error) {
	if _, err := req.Next(); err != nil {
		return nil, err
	}
	if err := req.RewindBody(); err != nil {
		return nil, err
	}
	return req.Next()
}

func TestAPolicyThatFollowsTheAcceleratorMayRewindTheBody(t *testing.T) {
	for name, add := range map[string]func(*aztables.ClientOptions){
		"a policy":           func(o *aztables.ClientOptions) { o.PerRetryPolicies = append(o.PerRetryPolicies, resending{}) },
		"the log of the SDK": func(o *aztables.ClientOptions) { o.Logging.IncludeBody = true },
		"a retry policy": func(o *aztables.ClientOptions) {
			o.PerRetryPolicies = append(o.PerRetryPolicies, azruntime.NewRetryPolicy(nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			listen(t, func(string) {})
			sent, c := keeping(t, add)
			reference, other := keeping(t, nil)
			for range 3 {
				for what := range requests(nil, "", "") {
					for _, c := range []*Client{c, other} {
						assert.NoError(t, requests(c, "p", "r")[what](t.Context()))
					}
					if got, want := sent.last(), reference.last(); got != want && !differInDate(got, want) {
						t.Errorf("%s:\n%s\nwithout:\n%s", what, got, want)
					}
				}
			}
		})
	}
}

func TestEachTryOfAKeptRequestIsSignedAnew(t *testing.T) {
	for what := range requests(nil, "", "") {
		synctest.Test(t, func(t *testing.T) {
			r, c := keeping(t, func(o *aztables.ClientOptions) { o.Retry.RetryDelay = 5 * time.Second })
			untilKept(t, c, kindOf(what), requests(c, "p", "r")[what])
			before := len(r.sent)
			r.fails = 2
			assert.NoError(t, requests(c, "p", "r")[what](t.Context()))
			dates, signatures := map[string]bool{}, map[string]bool{}
			for _, try := range r.sent[before:] {
				for line := range strings.Lines(try) {
					if strings.HasPrefix(line, "X-Ms-Date:") {
						dates[line] = true
					}
					if strings.HasPrefix(line, "Authorization:") {
						signatures[line] = true
					}
				}
			}
			assert.Equal(assert.Now(t), len(dates), 3, what)
			assert.Equal(t, len(signatures), 3, what)
		})
	}
}

// renewed returns another token each time.
type renewed struct{ n int }

func (r *renewed) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	r.n++
	return azcore.AccessToken{Token: fmt.Sprint("token", r.n), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func TestAChallengeInAKeptRequestRenewsTheToken(t *testing.T) {
	for what := range requests(nil, "", "") {
		r := &recorder{}
		challenge := false
		o := &aztables.ClientOptions{}
		o.Transport = answering(func(req *http.Request) (*http.Response, error) {
			resp, err := r.Do(req)
			if challenge {
				challenge = false
				resp.StatusCode, resp.Body = http.StatusUnauthorized, http.NoBody
				resp.Header.Set("WWW-Authenticate", `Bearer error="insufficient_claims", claims="e30="`)
			}
			return resp, err
		})
		Accelerate(&o.ClientOptions)
		s := assert.Must(aztables.NewServiceClient(testURL, &renewed{}, o))(t)
		c := NewClient(s.NewClient("Table"))
		untilKept(t, c, kindOf(what), requests(c, "p", "r")[what])
		before := len(r.sent)
		challenge = true
		assert.Equal(t, requests(c, "p", "r")[what](t.Context()), nil, what)
		tries := r.sent[before:]
		assert.Equal(assert.Now(t), len(tries), 2, what)
		assert.Equal(t, strings.Replace(tries[0], "token1", "token2", 1), tries[1], what)
	}
}

type answering func(*http.Request) (*http.Response, error)

func (a answering) Do(req *http.Request) (*http.Response, error) { return a(req) }

func TestAKeptRequestIsNotUsedAgainAfterAPanic(t *testing.T) {
	for what := range requests(nil, "", "") {
		r := &recorder{}
		fail := false
		_, c := keeping(t, func(o *aztables.ClientOptions) {
			o.Transport = answering(func(req *http.Request) (*http.Response, error) {
				if fail {
					panic("transport")
				}
				return r.Do(req)
			})
		})
		call := requests(c, "p", "r")[what]
		untilKept(t, c, kindOf(what), call)
		want := r.last()
		fail = true
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			_ = call(t.Context())
		}()
		fail = false
		if err := call(t.Context()); err != nil || !differInDate(r.last(), want) {
			t.Errorf("%s: %v\n%s", what, err, r.last())
		}
	}
}

func TestACallThatIsCancelledLeavesNothingInAKeptRequest(t *testing.T) {
	for what := range requests(nil, "", "") {
		r, c := keeping(t, nil)
		call := requests(c, "p", "r")[what]
		untilKept(t, c, kindOf(what), call)
		want := r.last()
		ctx, cancel := context.WithCancel(policy.WithHTTPHeader(t.Context(), http.Header{"X-Mine": {"1"}, "If-Match": {"2"}, "Accept": {"3"}}))
		var resp *http.Response
		ctx = policy.WithCaptureResponse(ctx, &resp)
		r.fails = 1
		ctx = policy.WithRetryOptions(ctx, policy.RetryOptions{ShouldRetry: func(*http.Response, error) bool { cancel(); return true }})
		assert.Failed(t, call(ctx), what, "no error")
		resp = nil
		if err := call(t.Context()); err != nil || !differInDate(r.last(), want) || resp != nil {
			t.Errorf("%s: %v, captured %v\n%s", what, err, resp, r.last())
		}
	}
}

func TestALogListenerThatIsSetLateEndsKeeping(t *testing.T) {
	_, c := keeping(t, nil)
	untilKept(t, c, getRequest, requests(c, "p", "r")["get"])
	lines := 0
	listen(t, func(string) { lines++ })
	for range 2 { // the first of another kind finds the listener
		assert.NoError(t, requests(c, "p", "r")["page"](t.Context()))
	}
	k := &call{client: c, requestTarget: requestTarget{kind: getRequest}}
	if k.takeKept(); k.kept != nil || lines != 4 {
		t.Errorf("a request is kept, %d entries", lines)
	}
}

func TestAServiceAddressWithAParameterOfQueriesIsNotKept(t *testing.T) {
	r, o := &recorder{}, &aztables.ClientOptions{}
	o.Transport = r
	Accelerate(&o.ClientOptions)
	c := NewClient(sharedKey(t, testURL+"/?$top=3&a=b", o).NewClient("Table"))
	for _, top := range []int32{0, 0, 0, 7} {
		assert.NoError(t, assert.ErrorOf(c.Query(t.Context(), Query{Top: top}, func([]byte) error { return nil })))
	}
	if strings.Contains(r.last(), "top=3") || !strings.Contains(r.last(), "top=7") {
		t.Error(r.last())
	}
}

func TestTheBufferOfABodyThatIsRewoundIsNotUsedByAnotherCall(t *testing.T) {
	b := newBody(limit.GetBuffer(10))
	r := b.reader()
	r.sent = true
	r.Close()
	assert.NoError(t, assert.ErrorOf(r.Seek(0, io.SeekStart)))
	b.release() // the call ends, and the transport still reads
	if b.refs.Load() <= 0 {
		t.Error("the buffer was put back")
	}
}
