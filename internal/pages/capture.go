package pages

import (
	"context"
	"net/http"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// PassOn stores resp in the variable that the caller of ctx has named by
// policy.WithCaptureResponse, if any. A call of the SDK stores its reply in one variable only,
// so a function that captures the reply of a call on behalf of the caller must pass it on.
func PassOn(ctx context.Context, resp *http.Response) {
	if captured, _ := ctx.Value(captureKey()).(**http.Response); captured != nil && resp != nil {
		*captured = resp
	}
}

// captureKey returns the key of policy.WithCaptureResponse, which azcore does not export: of the
// keys that a pipeline asks its context for, it is the one that WithCaptureResponse sets.
var captureKey = sync.OnceValue(func() any {
	var resp *http.Response
	asked := &keyWitness{Context: policy.WithCaptureResponse(context.Background(), &resp), want: &resp}
	pipeline := runtime.NewPipeline("azpatterns", "v0.0.0", runtime.PipelineOptions{PerCall: []policy.Policy{noReply{}}}, nil)
	if req, err := runtime.NewRequest(asked, http.MethodGet, "http://localhost"); err == nil {
		_, _ = pipeline.Do(req)
	}
	return asked.key
})

// keyWitness is a context that remembers the key whose value is want.
type keyWitness struct {
	context.Context
	want **http.Response
	key  any
}

func (w *keyWitness) Value(key any) any {
	v := w.Context.Value(key)
	if v == w.want {
		w.key = key
	}
	return v
}

// noReply is a policy that sends nothing.
type noReply struct{}

func (noReply) Do(*policy.Request) (*http.Response, error) { return &http.Response{}, nil }
