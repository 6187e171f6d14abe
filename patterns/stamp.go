package patterns

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// A row's stamps are the identities of its last writes, newest first, joined by
// dots. A writer carries on those of the version that it changes, so the list shows
// whether a given write is among those that made the row what it is. Behind the
// oldest stands what that write was made on: bornStamp for an insert, versionStamp
// where the row had no stamps, and nothing where the write had no condition, which
// hides what was there before.
const (
	maxStamps   = 8
	stampBytes  = 9 // 72 bits, 12 characters
	stampJoiner = "."

	bornStamp = "new"
)

// versionStamp stands for the version of a row that has no stamps.
func versionStamp(etag string) string {
	sum := sha256.Sum256([]byte(etag))
	return base64.RawURLEncoding.EncodeToString(sum[:stampBytes])
}

func newStamp() string {
	var b [stampBytes]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// addStamp puts id in front of base and drops the oldest.
func addStamp(id, base string) string {
	if base == "" {
		return id
	}
	old := strings.Split(base, stampJoiner)
	return strings.Join(append([]string{id}, old[:min(len(old), maxStamps-1)]...), stampJoiner)
}

func hasStamp(stamps, id string) bool {
	for s := range strings.SplitSeq(stamps, stampJoiner) {
		if s == id {
			return true
		}
	}
	return false
}

// reachesBack reports whether stamps go back without a gap to the version that had
// base: every write in between is then among them.
func reachesBack(stamps, base string) bool {
	newest, _, _ := strings.Cut(base, stampJoiner)
	return newest != "" && hasStamp(stamps, newest)
}
