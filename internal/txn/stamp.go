package txn

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"iter"
	"strings"
)

// The stamps of a row are the identities of its last writes, newest first, joined by
// dots. A writer keeps the stamps of the version that it changes, so the list shows
// whether a given write is among those that made the row what it is.
//
// An attempt of an insert, or of a write without a condition, may arrive late and make the
// row once more what that write made it, so their identities do not identify a version. The
// first write under an ETag after one of them puts the versionStamp of the version that it
// changed between the two, and so does a write to a version without stamps.
const (
	maxStamps   = 8
	stampBytes  = 9 // 72 bits, 12 characters
	stampJoiner = "."
)

// BaseStamps returns the stamps that a write under etag is based on, from the stamps of
// the version with that ETag.
func BaseStamps(etag, stamps string) string {
	switch newest, older, _ := strings.Cut(stamps, stampJoiner); {
	case stamps == "":
		return versionStamp(etag)
	case older == "" || older == insertedStamp:
		return versionStamp(etag) + stampJoiner + newest
	}
	return stamps
}

// insertedStamp follows the identity of an insert in rows of earlier versions.
const insertedStamp = "new"

// versionStamp identifies the version with that ETag.
func versionStamp(etag string) string {
	sum := sha256.Sum256([]byte(etag))
	return base64.RawURLEncoding.EncodeToString(sum[:stampBytes])
}

func newStamp() string {
	var b [stampBytes]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// NextStamps returns the identity of a new write to a row with the given stamps, and the
// stamps of the row after it.
func NextStamps(base string) (id, stamps string) {
	id = newStamp()
	return id, AddStamp(id, base)
}

// AddStamp returns base with id as the newest stamp, and without the oldest if there are
// too many.
func AddStamp(id, base string) string {
	if base == "" {
		return id
	}
	kept := 0 // bytes
	for range maxStamps - 1 {
		n := strings.Index(base[kept:], stampJoiner)
		if n < 0 {
			return id + stampJoiner + base
		}
		kept += n + len(stampJoiner)
	}
	return id + stampJoiner + base[:kept-len(stampJoiner)]
}

// SplitStamps returns the single stamps of a row, newest first.
func SplitStamps(stamps string) iter.Seq[string] { return strings.SplitSeq(stamps, stampJoiner) }

// NewestStamp returns the first of the stamps of a row.
func NewestStamp(stamps string) string {
	newest, _, _ := strings.Cut(stamps, stampJoiner)
	return newest
}

func hasStamp(stamps, id string) bool {
	for s := range SplitStamps(stamps) {
		if s == id {
			return true
		}
	}
	return false
}

// reachesBack reports whether stamps list every write since the version that has the
// [BaseStamps] base.
func reachesBack(stamps, base string) bool {
	newest := NewestStamp(base)
	return newest != "" && hasStamp(stamps, newest)
}
