package query

// Type is the type of a stored property, or of a literal. A comparison matches only if
// the stored value and the literal have the same type.
//
// See https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#property-types
type Type int

// The eight types of the Table service.
const (
	String   Type = iota // Edm.String
	Int32                // Edm.Int32
	Int64                // Edm.Int64
	Double               // Edm.Double
	Bool                 // Edm.Boolean
	DateTime             // Edm.DateTime
	Binary               // Edm.Binary
	GUID                 // Edm.Guid
)

// Any is the type in a [Schema] of a property of which each row may have another type. Literals of
// every type are compared with it.
const Any Type = -1

// Encrypted is the type in a [Schema] of a property that is stored encrypted. No filter can find it, so
// [Filter.Check] refuses every comparison with it.
const Encrypted Type = -2

var typeNames = [...]string{
	String: "String", Int32: "Int32", Int64: "Int64", Double: "Double",
	Bool: "Boolean", DateTime: "DateTime", Binary: "Binary", GUID: "Guid",
}

// String returns the name that the service uses, without "Edm.".
func (t Type) String() string {
	if t < 0 || int(t) >= len(typeNames) {
		return "unknown type"
	}
	return typeNames[t]
}
