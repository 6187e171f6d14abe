package entitytype

import (
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
// type if [Options.ByRowKey] is set.
func RowKeys(name string) keys.Range { return keys.Prefix(name + separator) }

// stored returns the type of a row. property is the value of the registry's property, nil
// if the row has none. The result is zero if the row does not contain its type, or not in
// the form in which this package stores it.
func (r *Registry) stored(rowKey string, property any) typeName {
	text, isText := property.(string)
	if property != nil && !isText {
		return typeName{}
	}
	name, version, _ := strings.Cut(text, ":")
	if r.byRowKey {
		version = text
		var found bool
		if name, _, found = strings.Cut(rowKey, separator); !found {
			return typeName{}
		}
	}
	if version == "" && !strings.Contains(text, ":") { // the name alone
		version = strconv.Itoa(r.unversioned)
	}
	n := typeName{name: name}
	n.version, _ = strconv.Atoi(version)
	if !n.valid() {
		return typeName{}
	}
	return n
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
