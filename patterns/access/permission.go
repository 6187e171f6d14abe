package access

// Permission is a set of things that a signature permits; join them with |.
type Permission uint8

// The permissions of a table.
const (
	Read   Permission = 1 << iota // point reads and queries
	Add                           // insert
	Update                        // replace and merge, of what exists
	Delete

	// Upsert is insert-or-replace and insert-or-merge: the service asks for both
	// permissions that it may come to.
	Upsert = Add | Update
	// All is everything that can be done with entities. Tables are beyond any
	// signature of this package.
	All = Read | Add | Update | Delete
)

// String gives the letters of the permissions in the order that the service
// demands, "raud".
func (p Permission) String() string {
	const letters = "raud"
	var b []byte
	for i := range len(letters) {
		if p&(1<<i) != 0 {
			b = append(b, letters[i])
		}
	}
	return string(b)
}
