package table

import (
	"strings"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// address is what the path of a request names, once the account is cut off.
type address struct {
	name           string // table, "Tables" or "$batch"; "" is the service
	parens         bool   // Name(…), with or without keys
	keyed          bool   // Name(PartitionKey='…',RowKey='…')
	partition, row string
	arg            string // Tables('arg')
}

// parseAddress reads a decoded path.
func parseAddress(path string) (address, *rest.Error) {
	path = strings.TrimPrefix(path, "/")
	name, rest, open := strings.Cut(path, "(")
	a := address{name: name, parens: open}
	if !open {
		if strings.Contains(name, "/") {
			return a, errInvalidInput
		}
		return a, nil
	}
	if rest == ")" {
		return a, nil
	}
	if strings.EqualFold(name, "Tables") {
		arg, rest, ok := cutQuoted(rest)
		if !ok || rest != ")" {
			return a, errInvalidInput
		}
		a.arg, a.keyed = arg, true
		return a, nil
	}
	return a, a.parseKeys(rest)
}

// parseKeys reads the two keys, in either order, up to the closing parenthesis.
func (a *address) parseKeys(s string) *rest.Error {
	var has [2]bool
	for i := range 2 {
		name, rest, ok := strings.Cut(s, "=")
		which := 0
		switch strings.TrimSpace(name) {
		case "PartitionKey":
		case "RowKey":
			which = 1
		default:
			return errInvalidInput
		}
		if !ok || has[which] {
			return errInvalidInput
		}
		value, rest, ok := cutQuoted(strings.TrimLeft(rest, " "))
		if !ok {
			return errInvalidInput
		}
		if err := checkKey(value); err != nil {
			return err
		}
		has[which] = true
		if which == 0 {
			a.partition = value
		} else {
			a.row = value
		}
		end := ","
		if i == 1 {
			end = ")"
		}
		if s, ok = strings.CutPrefix(strings.TrimLeft(rest, " "), end); !ok {
			return errInvalidInput
		}
	}
	if s != "" {
		return errInvalidInput
	}
	a.keyed = true
	return nil
}

// cutQuoted takes a literal in single quotes, where two stand for one, off
// the front of s.
func cutQuoted(s string) (value, rest string, ok bool) {
	if s == "" || s[0] != '\'' {
		return "", s, false
	}
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			i++
			continue
		}
		value = s[1:i]
		if strings.Contains(value, "''") {
			value = strings.ReplaceAll(value, "''", "'")
		}
		return value, s[i+1:], true
	}
	return "", s, false
}

// escapeKey writes a key for use between the quotes of an address.
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
