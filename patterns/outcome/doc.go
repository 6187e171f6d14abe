// Package outcome has the errors and the reports that package patterns, the packages of the
// patterns and the packages below them return. Programs use the names of package patterns, which
// are the same types: patterns.Error is [Error]. So errors.As and a type switch both find
// *patterns.Error.
//
// The package imports nothing of the SDK, and makes no request.
package outcome
