package fault

import "github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

// Inner is the transport that carries the requests out. Wrapped anew it is a way
// around the rules and the log, for what a test sets up.
func (t *Transport) Inner() policy.Transporter { return t.inner }
