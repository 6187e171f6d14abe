package keys

// Compare orders two key texts as the Table service orders them, by UTF-16 code
// units, and gives -1, 0 or +1. Upper case comes before lower case, and a
// character above U+FFFF before one from U+E000 to U+FFFF. Text that is not
// valid UTF-8 has a place in the order too, so that sorting is always safe.
//
// Cosmos DB for Table does not sort its answers at all.
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

// rank places a UTF-8 byte so that comparing ranks compares UTF-16 units. The
// first bytes that differ in two valid texts are either both first bytes of a
// character or both later bytes of characters that began alike. UTF-8 already
// orders the latter, and the former too, but for F0 to F4: these begin the
// characters that UTF-16 writes as surrogates, D800 to DFFF, and so belong
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
