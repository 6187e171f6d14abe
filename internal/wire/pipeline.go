package wire

import (
	"context"
	"net/http"
	"runtime"
	"slices"
	"strings"

	azruntime "github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// What is known about the policies in the pipeline.
const (
	policiesUnknown = iota
	policiesForeign
	policiesSDK // they are those of aztables and the two of [Accelerate]
)

// witness is the context that the accelerator passes on in a call whose request may be kept.
// The policy that follows it in a pipeline without others asks its context for a value. The
// functions that are being executed then are those of the policies.
type witness struct {
	context.Context
	call *call
}

func (w *witness) Value(key any) any {
	if w.call.policies.CompareAndSwap(policiesUnknown, policiesForeign) && onlySDK() {
		w.call.policies.Store(policiesSDK)
	}
	return w.Context.Value(key)
}

// sdkPolicies are the policies of a pipeline without others, from the one that follows the
// accelerator to the first. Each line has the alternatives for one place. An empty name means
// that there may be none.
var sdkPolicies = [][]string{
	{azcoreFunctions + "runtime.httpHeaderPolicy"},
	{ownFunctions + "accelerator.Do"},
	{azcoreFunctions + "runtime.(*BearerTokenPolicy).Do", tablesFunctions + "(*sharedKeyCredPolicy).Do", ""},
	{azcoreFunctions + "runtime.(*retryPolicy).Do"},
	{ownFunctions + "keeper.Do"},
	{tablesFunctions + "cosmosPatchTransformPolicy.Do", ""},
	{azcoreFunctions + "runtime.telemetryPolicy.Do", ""},
	{azcoreFunctions + "runtime.(*apiVersionPolicy).Do", ""},
	{azcoreFunctions + "runtime.includeResponsePolicy"},
}

const (
	ownFunctions    = "github.com/azpatterns/azpatterns/internal/wire."
	azcoreFunctions = "github.com/Azure/azure-sdk-for-go/sdk/azcore/"
	tablesFunctions = "github.com/Azure/azure-sdk-for-go/sdk/data/aztables."
)

// onlySDK reports whether it is called, by way of [witness], from sdkPolicies and no others.
func onlySDK() bool {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers[:])]) // of the caller of the witness
	left := sdkPolicies
	for more := true; more && len(left) > 0; {
		var f runtime.Frame
		f, more = frames.Next()
		if strings.HasPrefix(f.Function, azcoreFunctions+"internal/exported.") {
			continue // calls policies
		}
		for !slices.Contains(left[0], f.Function) {
			if !slices.Contains(left[0], "") || f.Function == "" {
				return false
			}
			left = left[1:]
		}
		left = left[1:]
	}
	return len(left) == 0
}

// logging reports whether requests or replies are logged. azcore has no function for that. But
// its logging policy reads the address of a request only to log it, and so fails if there is
// neither.
func logging() (on bool) {
	defer func() { on = recover() != nil }()
	req, err := azruntime.NewRequestFromRequest(new(http.Request))
	if err != nil {
		return true
	}
	_, _ = azruntime.NewLogPolicy(nil).Do(req)
	return false
}
