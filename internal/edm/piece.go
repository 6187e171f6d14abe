package edm

import (
	"reflect"
	"strconv"
	"strings"
)

// SplitCodecFor is CodecFor for values that take several rows, written by Split and
// read by Join: the type may have any number of fields.
func SplitCodecFor(t reflect.Type) (*Codec, error) {
	return codecFor(codecKey{typ: t, wide: true})
}

// A value over 64 KiB is split. The first piece has the property's name; further
// ones have that of PieceName. The length of a binary piece is a multiple of 3, so
// that its base64 has no padding and pieces can be joined as they stand.
const (
	pieceUnits = maxTextUnits
	pieceBytes = maxBinary - maxBinary%3
)

// PieceName is the name of a further piece of a property: 1 is the second.
func PieceName(name string, piece int) string {
	return reservedPrefix + strconv.Itoa(piece) + "_" + name
}

// isPiece answers whether the name is one that PieceName gives.
func isPiece(name string) bool {
	digits, ok := strings.CutPrefix(name, reservedPrefix)
	return ok && digits != "" && '0' <= digits[0] && digits[0] <= '9'
}

// cutText gives the first n UTF-16 units of s, one less where a pair would be
// parted, and the rest.
func cutText(s string, n int) (piece, rest string) {
	units := 0
	for i, r := range s {
		units++
		if r > 0xFFFF {
			units++
		}
		if units > n {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// IsReserved answers whether the library keeps this property name for itself.
func IsReserved(name string) bool { return isReserved(name) }
