package patterns

import (
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/query"
)

var typeOf = map[wire.EDM]query.Type{
	wire.EDMString:   query.String,
	wire.EDMInt32:    query.Int32,
	wire.EDMInt64:    query.Int64,
	wire.EDMDouble:   query.Double,
	wire.EDMBoolean:  query.Bool,
	wire.EDMDateTime: query.DateTime,
	wire.EDMBinary:   query.Binary,
	wire.EDMGuid:     query.GUID,
}

// schemaOf is what a filter may ask of rows of the codec's type; nil where rows
// may have any property.
func schemaOf(c *wire.Codec) query.Schema {
	if c.Open() {
		return nil
	}
	s := make(query.Schema)
	for _, f := range c.Fields() {
		s[f.Name] = typeOf[f.EDM]
	}
	return s
}
