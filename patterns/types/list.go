package types

import "github.com/azpatterns/azpatterns/keys"

// List is how a row stores the members of a list. Implementations are pure functions,
// and safe for concurrent use.
//
// Package reindex verifies lists whose List also has the method
// Members(row map[string]any, key keys.Key) ([]keys.Key, error), which returns the members of
// the list in a row that is stored at key.
//
// A row is a map of its properties by name, with values of type string, bool, int32,
// int64, float64, time.Time, []byte or [16]byte, without the keys, Timestamp, and the
// properties of the Store itself. A missing row is an empty map.
type List interface {
	// Add adds member, a primary's key, to the list. changed is false if it was a member
	// already. It edits row in place. At a limit of the row it fails with an error that
	// matches patterns.ErrTooLarge and names the remedy.
	Add(row map[string]any, member keys.Key) (changed bool, err error)

	// Remove removes member from the list. changed is false if it was not a member.
	Remove(row map[string]any, member keys.Key) (changed bool, err error)

	// Len is the number of members. A row without any is deleted.
	Len(row map[string]any) (int, error)
}
