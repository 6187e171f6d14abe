package access

import (
	"net/netip"
	"regexp"
	"time"
)

// Scope is what a signature permits. It is a plain value: fill in the fields and
// [Sign] it.
type Scope struct {
	// Table is the table's name. Required.
	Table string
	// Range is the part of the table. The zero Range is all of it.
	Range Range
	// Allow is what may be done there. Required, unless the policy says it; it
	// may not be in both.
	Allow Permission
	// Expiry is the end, cut to the second. Required, unless the policy says it; it
	// may not be in both.
	Expiry time.Time
	// Start is the beginning, cut to the second. Zero means at once; "now" is no
	// substitute for it, as the service's clock may be behind.
	Start time.Time
	// Policy is the id of a stored access policy of the table, at most 64
	// characters. Deleting the policy revokes the signature. "" means none.
	Policy string
	// From is the only address from which the signature works. Zero means all.
	From Addresses
	// HTTP permits plain http too. Anyone on the way can then take the signature.
	HTTP bool
}

// Addresses is a range of IPv4 addresses, both ends included. A zero Last is
// First alone.
type Addresses struct{ First, Last netip.Addr }

var tableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{2,62}$`)

const maxPolicy = 64

// check finds what the service would refuse, or take for something else.
func (s Scope) check(now time.Time) error {
	bad := func(field, reason string) error { return &Error{Field: field, Reason: reason} }
	switch {
	case !tableName.MatchString(s.Table):
		return bad("Table", "not the name of a table: 3 to 63 letters and digits, the first a letter")
	case s.Range.err != nil:
		return s.Range.err
	case s.Allow&^All != 0:
		return bad("Allow", "unknown permission")
	case s.Allow == 0 && s.Policy == "":
		return bad("Allow", "required without a policy")
	case s.Expiry.IsZero() && s.Policy == "":
		return bad("Expiry", "required without a policy")
	case !s.Expiry.IsZero() && !s.Expiry.After(now):
		return bad("Expiry", "in the past")
	case !s.Expiry.IsZero() && s.Expiry.UTC().Year() > 9999:
		return bad("Expiry", "after the year 9999")
	case !s.Start.IsZero() && (s.Start.UTC().Year() < 1 || s.Start.UTC().Year() > 9999):
		return bad("Start", "outside the years 1 to 9999")
	case !s.Start.IsZero() && !s.Expiry.IsZero() && !s.Start.Before(s.Expiry):
		return bad("Start", "not before Expiry")
	case len([]rune(s.Policy)) > maxPolicy:
		return bad("Policy", "longer than 64 characters")
	}
	return s.From.check()
}

func (a Addresses) check() error {
	bad := func(reason string) error { return &Error{Field: "From", Reason: reason} }
	switch {
	case a == Addresses{}:
		return nil
	case !a.First.Is4():
		return bad("the first address is not IPv4")
	case a.Last == netip.Addr{}:
		return nil
	case !a.Last.Is4():
		return bad("the last address is not IPv4")
	case a.Last.Less(a.First):
		return bad("the last address is before the first")
	}
	return nil
}
