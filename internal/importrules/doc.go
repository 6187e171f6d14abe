// Package importrules holds the test of which package may import which, and of how many files a package may have.
package importrules
