package wire_test

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/wire"
)

// counting is a policy that numbers the tries of a call by an operation value.
type counting struct{ seen *[]int }

type tries int

func (p counting) Do(req *policy.Request) (*http.Response, error) {
	var n tries
	req.OperationValue(&n)
	n++
	req.SetOperationValue(n)
	*p.seen = append(*p.seen, int(n))
	return req.Next()
}

func TestOperationValuesBelongToOneCall(t *testing.T) {
	for name, add := range map[string]func(*aztables.ClientOptions, policy.Policy){
		"first per call": func(o *aztables.ClientOptions, p policy.Policy) {
			o.PerCallPolicies = append([]policy.Policy{p}, o.PerCallPolicies...)
		},
		"last per call": func(o *aztables.ClientOptions, p policy.Policy) {
			o.PerCallPolicies = append(o.PerCallPolicies, p)
		},
		"first per try": func(o *aztables.ClientOptions, p policy.Policy) {
			o.PerRetryPolicies = append([]policy.Policy{p}, o.PerRetryPolicies...)
		},
		"last per try": func(o *aztables.ClientOptions, p policy.Policy) {
			o.PerRetryPolicies = append(o.PerRetryPolicies, p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []int
			_, c := wire.NewTester(t, func(o *aztables.ClientOptions) { add(o, counting{&seen}) })
			calls := 0
			for range 3 {
				for _, call := range wire.Requests(c, "p", "r") {
					if calls++; call(t.Context()) != nil {
						t.Fatal("a request failed")
					}
				}
			}
			assert.EqualSlices(t, seen, slices.Repeat([]int{1}, calls), calls, "calls, tries")
		})
	}
}

// sdkValues is a policy that collects the types of the operation values at the end of a call.
// Nothing but reflection shows all of them.
type sdkValues struct{ types map[string]bool }

func (p sdkValues) Do(req *policy.Request) (*http.Response, error) {
	resp, err := req.Next()
	for all := reflect.ValueOf(req).Elem().FieldByName("values").MapRange(); all.Next(); {
		p.types[all.Value().Elem().Type().String()] = true
	}
	return resp, err
}

// A kept request has the operation values of its earlier calls. A new version of the SDK that
// has others than these must be examined.
func TestOnlyLoggingAndTheDownloadHaveOperationValues(t *testing.T) {
	p := sdkValues{map[string]bool{}}
	_, c := wire.NewTester(t, func(o *aztables.ClientOptions) {
		o.PerCallPolicies = append([]policy.Policy{p}, o.PerCallPolicies...)
	})
	for _, call := range wire.Requests(c, "p", "r") {
		assert.NoError(t, call(t.Context()))
	}
	want := []string{"runtime.bodyDownloadPolicyOpValues", "runtime.logPolicyOpValues"}
	assert.EqualSlices(t, slices.Sorted(maps.Keys(p.types)), want, "operation values")
}
