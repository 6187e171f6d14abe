package auth

import (
	"cmp"
	"strings"
)

// headerRanks are the characters that the first pass of the service's header order
// compares, lowest first. It skips all others, such as the hyphen.
const headerRanks = "!\"#$%*.^_`|~+0123456789abcdefghijklmnopqrstuvwxyz"

// compareHeaders compares lower-case header names as the service does. This differs from
// the order of bytes: hyphens decide only between names that are otherwise equal, and
// punctuation sorts before digits. azblob signs in this order, azqueue in byte order; the
// results differ only for unusual metadata names, such as x-ms-meta-a_ and x-ms-meta-a1.
func compareHeaders(a, b string) int {
	i, j := 0, 0
	for {
		ra, rb := 0, 0
		for ; ra == 0 && i < len(a); i++ {
			ra = strings.IndexByte(headerRanks, a[i]) + 1
		}
		for ; rb == 0 && j < len(b); j++ {
			rb = strings.IndexByte(headerRanks, b[j]) + 1
		}
		if ra != rb {
			return cmp.Compare(ra, rb)
		}
		if ra == 0 {
			break
		}
	}
	for i := range min(len(a), len(b)) {
		if ha, hb := a[i] == '-', b[i] == '-'; ha != hb {
			if ha {
				return 1
			}
			return -1
		}
	}
	return cmp.Compare(len(a), len(b))
}
