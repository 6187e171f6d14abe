package table

// escapeKey returns a key as it is written between the quotes of an address.
func escapeKey(key string) string {
	plain := true
	for i := range len(key) {
		if !unreserved(key[i]) {
			plain = false
			break
		}
	}
	if plain {
		return key
	}
	b := make([]byte, 0, len(key)+16)
	for i := range len(key) {
		switch c := key[i]; {
		case c == '\'':
			b = append(b, "''"...)
		case unreserved(c):
			b = append(b, c)
		default:
			b = append(b, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		}
	}
	return string(b)
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.' || c == '~'
}
