package entitytype

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/keys"
)

// typeName identifies a version of an entity type.
type typeName struct {
	name    string
	version int
}

const maxName = 64

func (n typeName) String() string { return n.name + ":" + strconv.Itoa(n.version) }

func (n typeName) valid() bool {
	illegal := strings.ContainsFunc(n.name, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9')
	})
	return n.name != "" && len(n.name) <= maxName && !illegal && n.version >= 1
}

// The row key begins with the name and this separator if Options.ByRowKey is set.
const separator = "_"

// RowKeys returns the range of the row keys of all entities of a type, for a query of one
// type if [RegistryOptions.ByRowKey] is set.
func RowKeys(name string) keys.Range { return keys.Prefix(name + separator) }

// stored returns the type of a row. property is the value of the registry's property, nil
// if the row has none. The result is zero if the row does not contain its type, or not in
// the form in which this package stores it.
func (r *Registry) stored(rowKey string, property any) typeName {
	text, isText := property.(string)
	if property != nil && !isText {
		return typeName{}
	}
	name, version := r.parse([]byte(rowKey), []byte(text))
	if n := (typeName{string(name), version}); n.valid() {
		return n
	}
	return typeName{}
}

// parse returns the name and the version in a row key and the text of the registry's
// property. They need not be valid.
func (r *Registry) parse(rowKey, text []byte) (name []byte, version int) {
	name, digits, hasVersion := bytes.Cut(text, []byte(":"))
	if r.byRowKey {
		var found bool
		if name, _, found = bytes.Cut(rowKey, []byte(separator)); !found {
			return nil, 0
		}
		digits, hasVersion = text, len(text) > 0
	}
	if !hasVersion { // the name alone
		return name, r.unversioned
	}
	version, _ = strconv.Atoi(string(digits))
	return name, version
}

// text returns what the registry's property contains for a type.
func (r *Registry) text(n typeName) string {
	switch {
	case r.byRowKey:
		return strconv.Itoa(n.version)
	case n.version == r.unversioned:
		return n.name
	}
	return n.String()
}

// checkKey checks that the row key fits the type.
func (r *Registry) checkKey(n typeName, key keys.Key) error {
	if r.byRowKey && !strings.HasPrefix(key.Row, n.name+separator) {
		return ErrWrongKey
	}
	return nil
}
