// Package types has the types that package patterns and its engine share: errors, reports and
// options. Use them by their names in package patterns, as patterns.QueryOptions: these are the
// same types, so errors.As and a type switch both find *patterns.Error, which is [Error].
//
// The package imports nothing of the SDK, and makes no request.
package types
