package rest

// Right is something that a credential may allow in the Table service.
type Right uint8

// The rights.
const (
	ReadRows Right = iota
	InsertRow
	UpdateRow
	UpsertRow
	DeleteRow
	ListTables
	CreateTable
	DeleteTable
	ReadPolicies
	WritePolicies
	ReadProperties
	WriteProperties
)

// A Guard says what the credential of a request allows. It answers nil for
// what is allowed, and the service's refusal otherwise.
type Guard interface {
	// Allow is asked for what concerns a table, or, with "", the account.
	Allow(right Right, table string) *Error
	// AllowRow is asked for what concerns one row.
	AllowRow(right Right, table, partition, row string) *Error
	// Sees reports whether a query returns a row. All says that it sees every
	// row, so that Sees need not be asked.
	Sees(partition, row string) bool
	All() bool
}

type open struct{}

func (open) Allow(Right, string) *Error                    { return nil }
func (open) AllowRow(Right, string, string, string) *Error { return nil }
func (open) Sees(string, string) bool                      { return true }
func (open) All() bool                                     { return true }
