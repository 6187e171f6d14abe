package logdata

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
)

// appendText appends s as a JSON string, in the same bytes as json.Marshal.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	if isPlain(s) {
		dst = append(dst, s...)
		return append(dst, '"')
	}
	s = validUTF8(s)
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !special[c] {
			continue
		}
		size := 1
		if c == 0xE2 { // U+2028 and U+2029 end a line in JavaScript
			if s[i+1] != 0x80 || s[i+2]&^1 != 0xA8 {
				continue
			}
			size = 3
		}
		dst = append(dst, s[from:i]...)
		switch short := shortEscapes[c]; {
		case size == 3:
			dst = append(append(dst, `\u202`...), hexDigits[s[i+2]&0xF])
		case short != 0:
			dst = append(dst, '\\', short)
		default:
			dst = append(append(dst, `\u00`...), hexDigits[c>>4], hexDigits[c&0xF])
		}
		i += size - 1
		from = i + 1
	}
	return append(append(dst, s[from:]...), '"')
}

// isPlain reports whether s consists of ASCII characters that appendText does not escape.
// It may return false for others.
func isPlain(s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if !isPlain8(s[i : i+8]) {
			return false
		}
	}
	if i > 0 {
		return isPlain8(s[len(s)-8:])
	}
	for ; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || special[c] {
			return false
		}
	}
	return true
}

// isPlain8 is isPlain of eight bytes. In x|4 the ampersand and the quote are alike, and in x|2
// both angle brackets. The high bit of a byte of the sum is set if the byte is special, if
// it is not ASCII, or if a lower byte is special.
func isPlain8(s string) bool {
	const each = 0x0101010101010101
	_ = s[7]
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	marks := x | (x - each*' ') | ((x | each*4) ^ each*'&' - each) | ((x | each*2) ^ each*'>' - each) | (x ^ each*'\\' - each)
	return marks&(each*0x80) == 0
}

const hexDigits = "0123456789abcdef"

// special are the bytes that begin a character which appendText may escape.
var special = func() (t [256]bool) {
	for c := range byte(' ') {
		t[c] = true
	}
	for _, c := range []byte("\"\\<>&\xE2") {
		t[c] = true
	}
	return t
}()

// shortEscapes are the letters of the escapes of two characters.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// shortUnescapes are the characters that a backslash and a letter represent.
var shortUnescapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// parseOwnLine decodes a line as AppendLine writes it: the members in that order, without
// white space, and in valid UTF-8. For every other line it returns false.
func parseOwnLine(line []byte) (r Record, ok bool) {
	if !utf8.Valid(line) {
		return r, false
	}
	rest, ok := bytes.CutPrefix(line, []byte(`{"time":"`))
	if !ok {
		if rest, ok = bytes.CutPrefix(line, []byte(`{"arrived":"`)); !ok {
			return r, false
		}
		r.Arrived = true
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 || r.Time.UnmarshalText(rest[:end]) != nil {
		return r, false
	}
	if r.Time = r.Time.UTC(); r.Time.Year() < 1 || r.Time.Year() > 9999 {
		return r, false
	}
	rest = rest[end+1:]
	var room [256]byte
	text := room[:0] // of both members, so that they share one allocation
	if after, has := bytes.CutPrefix(rest, []byte(`,"level":"`)); has {
		if text, rest, ok = appendUnescaped(text, after); !ok {
			return r, false
		}
	}
	level := len(text)
	if after, has := bytes.CutPrefix(rest, []byte(`,"msg":"`)); has {
		if text, rest, ok = appendUnescaped(text, after); !ok {
			return r, false
		}
	}
	if attrs, has := bytes.CutPrefix(rest, []byte(`,"attrs":`)); has {
		end := len(attrs) - 1
		if end < 1 || attrs[0] != '{' || attrs[end-1] != '}' || !json.Valid(attrs[:end]) {
			return r, false
		}
		r.Attrs, rest = bytes.Clone(attrs[:end]), attrs[end:]
	}
	if string(rest) != "}" {
		return r, false
	}
	both := string(text)
	r.Type, r.Message = both[:level], both[level:]
	return r, true
}

// appendUnescaped appends the JSON string that src begins with, after its first quote, and
// returns what follows the string. It returns false if the string is not valid, or contains
// half of a surrogate pair.
func appendUnescaped(dst, src []byte) (text, rest []byte, ok bool) {
	for {
		n := 0
		for n < len(src) && src[n] != '"' && src[n] != '\\' && src[n] >= ' ' {
			n++
		}
		dst = append(dst, src[:n]...)
		if src = src[n:]; len(src) < 2 {
			return dst, nil, false // a member is followed by a brace at least
		}
		switch {
		case src[0] == '"':
			return dst, src[1:], true
		case src[0] != '\\':
			return dst, nil, false
		case src[1] != 'u':
			c := shortUnescapes[src[1]]
			if c == 0 {
				return dst, nil, false
			}
			dst, src = append(dst, c), src[2:]
		default:
			r, ok := unit(src)
			if src = src[min(6, len(src)):]; ok && utf16.IsSurrogate(r) {
				var low rune
				low, ok = unit(src)
				if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
					return dst, nil, false
				}
				src = src[min(6, len(src)):]
			}
			if !ok {
				return dst, nil, false
			}
			dst = utf8.AppendRune(dst, r)
		}
	}
}

// unit returns the UTF-16 unit of the escape that src begins with.
func unit(src []byte) (r rune, ok bool) {
	if len(src) < 6 || src[0] != '\\' || src[1] != 'u' {
		return 0, false
	}
	for _, c := range src[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// compactObject returns the text of a JSON object without white space and in valid UTF-8. It
// returns the same slice if nothing changes, and false if text is not an object.
func compactObject(text []byte) ([]byte, bool) {
	if !json.Valid(text) {
		return nil, false
	}
	if text[0] == '{' && isCompact(text) && utf8.Valid(text) {
		return text, true
	}
	var short bytes.Buffer
	if err := json.Compact(&short, bytes.ToValidUTF8(text, []byte("\ufffd"))); err != nil || short.Bytes()[0] != '{' {
		return nil, false
	}
	return short.Bytes(), true
}

// isCompact reports whether valid JSON contains no white space between its tokens.
func isCompact(text []byte) bool {
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			i++
		case !inString && c <= ' ':
			return false
		}
	}
	return true
}
