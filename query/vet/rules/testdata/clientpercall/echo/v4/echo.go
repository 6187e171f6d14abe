// Package echo has the shape of a framework for HTTP.
package echo

// A Context is a request. It must not be used concurrently.
type Context interface{ Param(name string) string }
