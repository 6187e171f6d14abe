package types

// Kind is what the rows of a view are.
type Kind int

// What a derived row is, for [Shape].Kind.
const (
	Copies   Kind = iota // the primary's properties under another key: a secondary index
	Members              // membership in a list: an index entity
	Merges               // properties inside another entity: denormalisation
	Lookups              // the primary's key under a value, written outside of its transaction: made by package secondaryindex only
	Journals             // changes of the primary: made by package journal only
)

var kindNames = [...]string{"copy", "member", "merge", "lookup", "change"}

// String returns the name of one row of the kind.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "unknown kind"
	}
	return kindNames[k]
}
