// Package conditions does not use the SDK.
package conditions

import "strings"

// All joins conditions.
type All struct{ parts []string }

// Eq adds a condition, and does not double the quotes of the value.
func (a *All) Eq(name, value string) *All {
	a.parts = append(a.parts, name+" eq '"+value+"'")
	return a
}

// EqAny adds a condition with another operator.
func (a *All) EqAny(name, op, value string) *All {
	a.parts = append(a.parts, name+" "+op+" '"+strings.ReplaceAll(value, "'", "''")+"'")
	return a
}

// String returns the filter.
func (a *All) String() string { return strings.Join(a.parts, " and ") }
