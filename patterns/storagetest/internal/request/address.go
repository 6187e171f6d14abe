package request

import (
	"strings"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// Address is the parsed path of a request to the Table service.
type Address struct {
	Name   string // table, "Tables" or "$batch"; "" for the service
	Parens bool   // Name(…), with or without keys
	Keyed  bool   // Name(PartitionKey='…',RowKey='…') or Tables('arg')
	Key    keys.Key
	Arg    string // of Tables('arg')
}

func (a Address) isTables() bool { return strings.EqualFold(a.Name, "Tables") }

// parseAddress parses a decoded path below the account, which may end in a slash.
func parseAddress(path string) (Address, *reply.Error) {
	name, rest, open := strings.Cut(strings.TrimSuffix(path, "/"), "(")
	a := Address{Name: name, Parens: open}
	if !open {
		if strings.Contains(name, "/") {
			return a, ErrInvalidInput.Because("the path has two segments")
		}
		return a, nil
	}
	if rest == ")" {
		return a, nil
	}
	if a.isTables() {
		arg, rest, ok := CutQuoted(rest)
		if !ok || rest != ")" {
			return a, ErrInvalidInput.Because("the path is not of the form Tables('name')")
		}
		a.Arg, a.Keyed = arg, true
		return a, nil
	}
	return a, a.parseKeys(rest)
}

const keyForm = "the address of a row has the form Name(PartitionKey='…',RowKey='…')"

// parseKeys reads the two keys, in either order, up to the closing parenthesis.
func (a *Address) parseKeys(s string) *reply.Error {
	var has [2]bool
	for i := range 2 {
		name, rest, ok := strings.Cut(s, "=")
		which := 0
		switch strings.TrimSpace(name) {
		case "PartitionKey":
		case "RowKey":
			which = 1
		default:
			return ErrInvalidInput.Because(keyForm)
		}
		if !ok || has[which] {
			return ErrInvalidInput.Because(keyForm)
		}
		value, rest, ok := CutQuoted(strings.TrimLeft(rest, " "))
		if !ok {
			return ErrInvalidInput.Because(keyForm)
		}
		if err := CheckKey(strings.TrimSpace(name), value); err != nil {
			return err
		}
		has[which] = true
		if which == 0 {
			a.Key.Partition = value
		} else {
			a.Key.Row = value
		}
		end := ","
		if i == 1 {
			end = ")"
		}
		if s, ok = strings.CutPrefix(strings.TrimLeft(rest, " "), end); !ok {
			return ErrInvalidInput.Because(keyForm)
		}
	}
	if s != "" {
		return ErrInvalidInput.Because(keyForm)
	}
	a.Keyed = true
	return nil
}

// CutQuoted splits s after the literal in single quotes at its start. Two single quotes
// in the literal represent one.
func CutQuoted(s string) (value, rest string, ok bool) {
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
