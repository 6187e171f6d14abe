// Package naming decides under which names patterns store data in addition to the entities of the program: it checks the names of
// blobs that were read, and derives the names, keys and partitions of index rows.
package naming
