package access

import (
	"errors"
	"net/netip"
	"regexp"
	"time"
	"unicode/utf8"
)

// Scope is what a signature permits. Set the fields and pass the Scope to [Sign].
type Scope struct {
	// Table is the name of the table. Required.
	Table string
	// Range is the part of the table that the signature covers. The zero Range is the
	// whole table.
	Range Range
	// Allow is the set of permissions. Required, unless the stored access policy has
	// them; the service does not accept both.
	Allow Permission
	// Expiry is the end of the signature's lifetime, truncated to the second. Required,
	// unless the stored access policy has it; the service does not accept both.
	Expiry time.Time
	// Start is the beginning of the lifetime, truncated to the second. Zero means
	// immediately. Do not use time.Now(): the clock of the service may be behind.
	Start time.Time
	// Policy is the id of a stored access policy of the table, at most 64 characters.
	// Deleting the policy revokes the signature. If empty, the signature uses no policy.
	Policy string
	// IPs are the client addresses from which the signature is accepted. Zero means all.
	IPs IPRange
	// AllowHTTP permits http in addition to https. Anyone on the network path can then
	// copy the signature.
	AllowHTTP bool
}

// IPRange is a range of IPv4 addresses, First and Last included. If Last is zero, the
// range is First alone.
type IPRange struct{ First, Last netip.Addr }

// Permission is a set of permissions. Combine them with |.
type Permission uint8

// The permissions for the entities of a table.
const (
	Read   Permission = 1 << iota // point reads and queries
	Add                           // insert
	Update                        // replace and merge of existing entities
	Delete

	// Upsert permits insert-or-replace and insert-or-merge. The service requires the
	// permissions for both possible outcomes.
	Upsert = Add | Update
	// All permits every operation on entities. No signature of this package permits
	// creating or deleting tables.
	All = Read | Add | Update | Delete
)

// String returns the letters of the permissions in the order that the service
// requires: "raud".
func (p Permission) String() string {
	const letters = "raud"
	var b []byte
	for i := range len(letters) {
		if p&(1<<i) != 0 {
			b = append(b, letters[i])
		}
	}
	return string(b)
}

// Error reports why [Sign] refused its arguments, why a [Range] cannot be signed, or that
// a [Token] is not signed.
// The message contains neither keys nor the signature.
type Error struct {
	Field string // the field of Scope, or "credential", "service URL", "token"
	Err   error  // the reason; a *keys.Error if the service does not accept a key
}

func (e *Error) Error() string { return "access: " + e.Field + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

func invalid(field, reason string) error { return &Error{Field: field, Err: errors.New(reason)} }

var tableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{2,62}$`)

const maxPolicy = 64 // characters

// check returns an *[Error] if the service would refuse the scope, or interpret it
// differently.
func (s Scope) check(now time.Time) error {
	switch {
	case !tableName.MatchString(s.Table):
		return invalid("Table", "not a table name: 3 to 63 letters and digits, starting with a letter")
	case s.Range.err != nil:
		return s.Range.err
	case s.Allow&^All != 0:
		return invalid("Allow", "unknown permission")
	case s.Allow == 0 && s.Policy == "":
		return invalid("Allow", "required without a policy")
	case s.Expiry.IsZero() && s.Policy == "":
		return invalid("Expiry", "required without a policy")
	case !s.Expiry.IsZero() && !s.Expiry.After(now):
		return invalid("Expiry", "in the past")
	case !s.Expiry.IsZero() && s.Expiry.UTC().Year() > 9999:
		return invalid("Expiry", "after the year 9999")
	case !s.Start.IsZero() && (s.Start.UTC().Year() < 1 || s.Start.UTC().Year() > 9999):
		return invalid("Start", "outside the years 1 to 9999")
	case !s.Start.IsZero() && !s.Expiry.IsZero() && !s.Start.Before(s.Expiry):
		return invalid("Start", "not before Expiry")
	case utf8.RuneCountInString(s.Policy) > maxPolicy:
		return invalid("Policy", "longer than 64 characters")
	}
	return s.IPs.check()
}

func (r IPRange) check() error {
	switch {
	case r == IPRange{}:
		return nil
	case !r.First.Is4():
		return invalid("IPs", "the first address is not IPv4")
	case r.Last == netip.Addr{}:
		return nil
	case !r.Last.Is4():
		return invalid("IPs", "the last address is not IPv4")
	case r.Last.Less(r.First):
		return invalid("IPs", "the last address is before the first")
	}
	return nil
}
