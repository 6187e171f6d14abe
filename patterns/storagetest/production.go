package storagetest

import (
	"math/rand/v2"
	"os"
	"time"
)

// ProductionVariable is the environment variable that sets Options.Production for every account of the process, if it is not
// empty when the account is used first. A test about an account without it sets the variable to "" with [testing.T.Setenv].
const ProductionVariable = "AZPATTERNS_PRODUCTION"

// What an account does with [Options.Production].
const (
	productionScan     = 250 // rows examined for a page
	productionLag      = 15 * time.Second
	productionSkew     = 2 * time.Minute
	productionPolicies = 30 * time.Second
	productionDeletion = 60 * time.Second
)

// production returns o with the zero fields that Production sets.
func (o Options) production() Options {
	for o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	if o.PageScan == 0 {
		o.PageScan = productionScan
	}
	o.PageBoundary = true
	if o.ClockSkew == 0 {
		o.ClockSkew = productionSkew
		if o.Seed%2 == 0 {
			o.ClockSkew = -productionSkew
		}
	}
	return o
}

// isProduction reports whether an account with these options does what the service does in production.
func (o Options) isProduction() bool { return o.Production || os.Getenv(ProductionVariable) != "" }

// beginProduction sets what has no option of its own.
func (a *Account) beginProduction() {
	a.core.DelayPolicies(productionPolicies)
	a.core.DelayDeletion(productionDeletion)
	a.core.Throttle(Targets{}.withDefaults())
	a.core.ReplicateFromTheStart(productionLag)
}
