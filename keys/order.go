package keys

// Compare compares two key texts by UTF-16 code units, as the Table service does, and
// returns -1, 0 or +1. Upper case sorts before lower case, and characters above U+FFFF
// before those from U+E000 to U+FFFF. The order is total, also for text that is not
// valid UTF-8.
//
// Cosmos DB for Table does not sort its results.
func Compare(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			if rank(a[i]) < rank(b[i]) {
				return -1
			}
			return 1
		}
	}
	switch {
	case len(a) < len(b):
		return -1
	case len(a) > len(b):
		return 1
	}
	return 0
}

// rank maps a UTF-8 byte to a number such that comparing ranks compares UTF-16 units.
// The first bytes in which two valid texts differ are either both the first byte of a
// character, or both a later byte of characters with the same first byte. Later bytes
// are already in UTF-16 order. So are first bytes, except F0 to F4: they begin the
// characters that UTF-16 encodes as surrogates, D800 to DFFF, and therefore sort
// before EE and EF, which begin U+E000 to U+FFFF.
func rank(b byte) byte {
	switch {
	case b < 0xEE || b > 0xF4:
		return b
	case b < 0xF0:
		return b + 5
	}
	return b - 2
}
