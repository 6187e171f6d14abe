package types

// EncryptionKeys are the keys of encrypted properties. Package encryption has an implementation. They must be safe for concurrent use. The methods are
// called for each encrypted property that is written or read, by several goroutines, and make no request: a key
// ring loads its keys before it is used.
type EncryptionKeys interface {
	// Current returns the key with which properties are encrypted now, 32 random bytes, and its id, 1 to 29
	// bytes, which is stored with each value. An id is that of one key forever.
	Current() (id string, key []byte)

	// Key returns the key with that id; ok is false if there is none.
	Key(id string) (key []byte, ok bool)
}
