package filter

import (
	"strings"
)

// Builder joins comparisons with "and".
type Builder struct{ parts []string }

func Eq(prop, value string) *Builder { return new(Builder).And(prop, "eq", value) }

// And adds a comparison with a string.
func (b *Builder) And(prop, op, value string) *Builder {
	b.parts = append(b.parts, prop+" "+op+" '"+value+"'") // MISTAKE: a quote in the value ends the literal
	return b
}

func (b *Builder) String() string { return strings.Join(b.parts, " and ") }
