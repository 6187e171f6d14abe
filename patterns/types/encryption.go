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

// Encryption is patterns.Encryption.
type Encryption struct {
	// Keys are the keys.
	Keys EncryptionKeys

	// Table is the logical name of the table, to which values are bound. A table that was restored, or moved, under
	// another name opens with the one that it had. "" means the table's name, in lower case. The SDK does not export that,
	// so it needs a client that was built with patterns.Accelerate; for another one "" is patterns.ErrBadOption.
	Table string
}
