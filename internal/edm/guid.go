package edm

const hexDigits = "0123456789abcdef"

// guidDash tells the places of the dashes in 8-4-4-4-12.
func guidDash(i int) bool { return i == 8 || i == 13 || i == 18 || i == 23 }

func appendGUID(dst []byte, g *[16]byte) []byte {
	for i, b := range g {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
	}
	return dst
}

// parseGUID reads 8-4-4-4-12 hexadecimal digits of either case.
func parseGUID(g *[16]byte, b []byte) bool {
	if len(b) != 36 {
		return false
	}
	n := 0
	for i := 0; i < 36; {
		if guidDash(i) {
			if b[i] != '-' {
				return false
			}
			i++
			continue
		}
		high, low := hexValue[b[i]], hexValue[b[i+1]]
		if high|low > 15 {
			return false
		}
		g[n] = high<<4 | low
		n++
		i += 2
	}
	return true
}
