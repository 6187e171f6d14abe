// Package api contains the exported names of the module and of the modules next to it, one file for each package, and a
// test that compares them with the code.
package api
