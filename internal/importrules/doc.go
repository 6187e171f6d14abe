// Package importrules contains tests of the whole module: which package may import which, and which words comments,
// messages, documents and names must not contain.
package importrules
