package pages

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// A cursor is base64url of
//
//	version (1 byte)
//	hash of the table's address (8 bytes)
//	hash of the above, the bounds and the position (16 bytes)
//	position
//
// The hashes detect cursors that are damaged or used for another read. They are not a
// protection against forgery: a caller that can forge a cursor can also send a query.
const (
	version  = 1
	tableLen = 8
	hashLen  = 16
	header   = 1 + tableLen + hashLen
)

// Cursor is the decoded position of a read: with the text, which is opaque and URL-safe, the
// read can be continued. The zero Cursor is the beginning of a read of any table.
type Cursor struct {
	Position []byte
	table    []byte
}

// SealCursor returns the text of the cursor for position in a read of the table at url. bounds
// identify the read.
func SealCursor(position []byte, url string, bounds ...string) string {
	head := append([]byte{version}, tableHash(url)...)
	text := append(head, hash(head, position, bounds)...)
	return base64.RawURLEncoding.EncodeToString(append(text, position...))
}

// OpenCursor decodes a text that SealCursor returned for the same bounds; ok is false for any other
// text. Use [Cursor.Of] to check the table. OpenCursor("") returns the zero Cursor.
func OpenCursor(text string, bounds ...string) (c Cursor, ok bool) {
	if text == "" {
		return Cursor{}, true
	}
	if strings.ContainsAny(text, "\r\n") { // base64 would ignore them
		return Cursor{}, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < header || b[0] != version {
		return Cursor{}, false
	}
	head, sum, position := b[:1+tableLen], b[1+tableLen:header], b[header:]
	if !bytes.Equal(sum, hash(head, position, bounds)) {
		return Cursor{}, false
	}
	return Cursor{Position: position, table: head[1:]}, true
}

// Of reports whether the cursor belongs to the table at url. The zero Cursor belongs to
// every table.
func (c Cursor) Of(url string) bool { return c.table == nil || bytes.Equal(c.table, tableHash(url)) }

func hash(head, position []byte, bounds []string) []byte {
	h := sha256.New()
	h.Write(head)
	h.Write(binary.AppendUvarint(nil, uint64(len(bounds))))
	for _, s := range bounds {
		h.Write(binary.AppendUvarint(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	h.Write(position)
	return h.Sum(nil)[:hashLen]
}

// tableHash returns the hash of a table's address. Table names are case-insensitive.
func tableHash(url string) []byte {
	h := sha256.Sum256([]byte(strings.ToLower(url)))
	return h[:tableLen]
}
