package patterns

import (
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/query"
)

// maxSelect is the most names that the service takes in $select.
//
// https://learn.microsoft.com/rest/api/storageservices/querying-tables-and-entities
const maxSelect = 255

// system are the properties that every row has. The service adds none of them to a
// selection by itself; the ETag always comes.
var system = []string{"PartitionKey", "RowKey", "Timestamp"}

// selection is what to ask for, besides what every row has: the caller's names,
// each once, which the reader's type must have, or else the reader's own. nil is
// the whole row.
func (r *rows[T]) selection(names []string) ([]string, error) {
	if names == nil {
		return r.only, nil
	}
	own := make([]string, 0, len(names))
	for _, name := range names {
		if slices.Contains(system, name) || slices.Contains(own, name) {
			continue
		}
		if !r.has(name) {
			return nil, &PropertyError{Property: name, Want: "a property of the type", Got: "an unknown name"}
		}
		own = append(own, name)
	}
	if len(own)+len(system) > maxSelect {
		return nil, ErrTooLarge
	}
	return own, nil
}

// has reports whether values of T can have a property of that name.
func (r *rows[T]) has(name string) bool {
	if r.codec.Open() {
		return query.Prop(name).Eq("").Err() == nil
	}
	return slices.ContainsFunc(r.codec.Fields(), func(f edm.Field) bool { return f.Name == name })
}

// selectList joins the names to ask for.
func selectList(names []string) string {
	if names == nil {
		return ""
	}
	return strings.Join(append(slices.Clone(system), names...), ",")
}
