// Package echo has the shape of a framework for HTTP.
package echo

// A Context is a request. It is for one goroutine.
type Context interface{ Param(name string) string }
