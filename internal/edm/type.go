package edm

// Type is a property type of the Table service.
// https://learn.microsoft.com/rest/api/storageservices/payload-format-for-table-service-operations#property-types-in-a-json-feed
type Type uint8

// The types of properties. The zero Type is none: no annotation in a row, no single type
// for a field.
const (
	String Type = iota + 1
	Boolean
	Int32
	Int64
	Double
	DateTime
	Guid
	Binary
	edmUnknown // annotated with another type
)

var edmNames = [...]string{"", "Edm.String", "Edm.Boolean", "Edm.Int32", "Edm.Int64", "Edm.Double",
	"Edm.DateTime", "Edm.Guid", "Edm.Binary", "an unknown type"}

// String returns the name as in an annotation, such as "Edm.Int64".
func (e Type) String() string {
	if int(e) < len(edmNames) {
		return edmNames[e]
	}
	return edmNames[edmUnknown]
}

// annotationSuffix is appended to a property's name to form that of its type annotation.
const annotationSuffix = "@odata.type"

// typeNamed returns the type with this annotation text, edmUnknown if there is none.
func typeNamed(text []byte) Type {
	for i := String; i < edmUnknown; i++ {
		if string(text) == edmNames[i] {
			return i
		}
	}
	return edmUnknown
}
