package patterns

import (
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/query"
)

var typeOf = map[edm.Type]query.Type{
	edm.String:   query.String,
	edm.Int32:    query.Int32,
	edm.Int64:    query.Int64,
	edm.Double:   query.Double,
	edm.Boolean:  query.Bool,
	edm.DateTime: query.DateTime,
	edm.Binary:   query.Binary,
	edm.Guid:     query.GUID,
}

// schemaOf is what a filter may ask of rows of the codec's type; nil where rows
// may have any property.
func schemaOf(c *edm.Codec) query.Schema {
	if c.Open() {
		return nil
	}
	s := make(query.Schema)
	for _, f := range c.Fields() {
		s[f.Name] = typeOf[f.EDM]
	}
	return s
}
