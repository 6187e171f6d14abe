// Package importrules holds the test of which package may import which.
package importrules
