package injection

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type kind string

const (
	small kind = "small"
	large kind = "large"
)

type id [16]byte

func (id) String() string { return "" }

type store struct {
	Table *aztables.Client
	name  string
}

func (s *store) list(filter string) {
	s.Table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
}

func (s *store) Formatted(pk, name string) {
	s.list(fmt.Sprintf("PartitionKey eq '%s' and Name eq '%v'", pk, name)) // want `a quote in this value ends the string` `a quote in this value`
}

func (s *store) Joined(pk string) {
	filter := "PartitionKey eq '" + pk + "'"  // want `a quote in this value.*injection, security`
	filter += " and Name eq '" + s.name + "'" // want `a quote in this value`
	options := &aztables.ListEntitiesOptions{}
	options.Filter = to.Ptr(filter)
	s.Table.NewListEntitiesPager(options)
}

func (s *store) Bare(pk, age string) {
	s.list("PartitionKey eq 'a' and Age gt " + age)                                                                          // want `compared in the filter without quotes`
	new(aztables.ServiceClient).NewListTablesPager(&aztables.ListTablesOptions{Filter: to.Ptr("TableName eq '" + pk + "'")}) // want `a quote in this value`
}

func partition(pk string) string { return fmt.Sprintf("PartitionKey eq '%s'", pk) }

func escapeOData(s string) string { return s }

func (s *store) Called(pk string) {
	s.list(partition(pk))     // want `a quote in this value`
	s.list(partition("west")) // a constant
}

func (s *store) Fine(n int, when time.Time, k kind, id id, clause, pk string) {
	s.list(fmt.Sprintf("PartitionKey eq '%d' and Size eq '%s' and Id eq '%s'", n, k, id))
	s.list("PartitionKey eq '" + strconv.Itoa(n) + "' and Timestamp gt datetime'" + when.UTC().Format(time.RFC3339) + "'") // want `a row can become visible`
	s.list("PartitionKey eq '" + escapeOData(pk) + "'")
	s.list("PartitionKey eq " + literal(pk))
	s.list("PartitionKey eq 'a' and " + clause)
	for _, city := range []string{"Bern", "Genf"} {
		s.list("PartitionKey eq '" + city + "'")
	}
	s.internal("a")
	s.internal("b")
}

func (s *store) internal(pk string) {
	s.list("PartitionKey eq '" + pk + "'") // all callers pass constants
}

func literal(s string) string {
	if s == "" {
		return "''"
	}
	return "'" + escapeOData(s) + "'"
}

var (
	zone    string
	region  = "west"
	tenant  = "none"
	account string
)

func init() {
	zone = "z1"
	tenant = os.Getenv("TENANT")
	flag.StringVar(&account, "account", "", "")
}

func (s *store) Global() {
	s.list("PartitionKey eq '" + zone + "' and Region eq '" + region + "'") // constants
	s.list("PartitionKey eq '" + tenant + "'")                              // want `a quote in this value`
	s.list("PartitionKey eq '" + account + "'")                             // want `a quote in this value`
}

func reversed(t time.Time) string { return fmt.Sprintf("%020d", -t.UnixNano()) }

func (s *store) Recent(when time.Time) {
	limit := reversed(when)
	s.list("PartitionKey eq 'a' and RowKey lt '" + limit + "'") // digits
}

func (s *store) Collision(pk string) {
	strings := len(pk)
	s.list("PartitionKey eq '" + pk + "'") // want `a quote in this value`
	_ = strings
}

type digest interface{ ToHexString() string }

func (s *store) Digest(d digest) { s.list("PartitionKey eq '" + d.ToHexString() + "'") }
