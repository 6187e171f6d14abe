package storagetest

import (
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

type (
	Script = transport
	Death  = death
)

var (
	DeathBefore = death{when: before}
	DeathAfter  = death{when: after}
)

func DeathLate(requests int, within time.Duration) Death {
	return death{when: late, requests: requests, within: within}
}

// Wrap returns a transport that sends through inner, with the Seed and the LogLimit of opts.
func Wrap(inner policy.Transporter, opts *Options) *Script {
	if opts == nil {
		opts = &Options{}
	}
	return wrap(inner, transportOptions{seed: opts.Seed, logLimit: opts.LogLimit})
}
