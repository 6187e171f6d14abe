package fetch

import (
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

var queryTypes = map[edm.Type]query.Type{
	0:            query.Any,
	edm.String:   query.String,
	edm.Int32:    query.Int32,
	edm.Int64:    query.Int64,
	edm.Double:   query.Double,
	edm.Boolean:  query.Bool,
	edm.DateTime: query.DateTime,
	edm.Binary:   query.Binary,
	edm.Guid:     query.GUID,
}

// anyProperty reports whether the rows that are read with the codec may have any property:
// the type can store them all, or has no field for any of them.
func anyProperty(c *edm.Codec) bool { return c.Open() || len(c.Fields()) == 0 }

// schemaOf returns the properties that a filter may name if rows are of the codec's
// type. It is nil if rows may have any property.
func schemaOf(c *edm.Codec) query.Schema {
	s := make(query.Schema)
	if anyProperty(c) {
		if !slices.ContainsFunc(c.Fields(), func(f edm.Field) bool { return f.Encrypted }) {
			return nil
		}
		s[""] = query.Any
	}
	for _, f := range c.Fields() {
		if s[""] != query.Any || f.Encrypted {
			s[f.Name] = queryType(f)
		}
	}
	return s
}

// queryType returns the type with which filters compare the field.
func queryType(f edm.Field) query.Type {
	if f.Encrypted {
		return query.Encrypted
	}
	return queryTypes[f.EDM]
}

// maxSelect is the largest number of names in $select.
//
// https://learn.microsoft.com/rest/api/storageservices/querying-tables-and-entities
const maxSelect = 255

// systemProperties are those that every row has. The service adds none of them to a
// selection by itself. It always adds the ETag.
var systemProperties = []string{"PartitionKey", "RowKey", "Timestamp"}

// keyProperties are those of them that a read without metadata needs.
var keyProperties = systemProperties[:2]

// partition returns the partition key that all rows of the reads have, nil if there are
// several or if rows are read with metadata. It need not be requested.
func (s *Source) partition(reads []query.Read) *string {
	if !s.bare || len(reads) == 0 {
		return nil
	}
	first := reads[0].Partition
	for i := range reads {
		if reads[i].Partition != first || first.To != first.From+"\x00" {
			return nil
		}
	}
	return &first.From
}

// selection returns the properties to request in addition to the system properties: the
// given names, each once, which the type must have, or those of the source if names is
// nil. The result nil is the whole row.
func (s *Source) selection(names []string) ([]string, error) {
	if names == nil {
		return s.only, nil
	}
	selected := make([]string, 0, len(names))
	for _, name := range names {
		if slices.Contains(systemProperties, name) || slices.Contains(selected, name) {
			continue
		}
		if !s.has(name) {
			return nil, &types.PropertyError{Property: name, Want: "a property of the type", Got: "an unknown name"}
		}
		selected = append(selected, name)
	}
	if len(selected)+len(systemProperties) > maxSelect {
		return nil, azerr.ErrTooLarge
	}
	return selected, nil
}

// request returns the properties to request for a selection; nil is the whole row.
func (s *Source) request(selected []string) []string {
	if s.view == nil || selected == nil {
		return selected
	}
	if s.view.Whole || len(selected)+len(s.view.Needs)+len(systemProperties) > maxSelect {
		return nil
	}
	return append(slices.Clip(selected), s.view.Needs...)
}

// has reports whether rows that are read with the codec can have a property of that name.
func (s *Source) has(name string) bool {
	if anyProperty(s.codec) {
		return query.Prop(name).Eq("").Err() == nil
	}
	return slices.ContainsFunc(s.codec.Fields(), func(f edm.Field) bool { return f.Name == name })
}

// selectText is the text of $select for a selection, "" for whole rows.
func selectText(system, selected []string) string {
	if selected == nil {
		return ""
	}
	return strings.Join(append(slices.Clone(system), selected...), ",")
}
