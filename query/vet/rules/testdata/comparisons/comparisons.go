package comparisons

import (
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var table *aztables.Client

func list(filter string) {
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
}

func constant() {
	const five = "A eq 1 or A eq 2 or A eq 3 or A eq 4 or A eq 5"
	list("PartitionKey eq 'p' and (" + five + " or " + five + " or " + five + ")") // want `the filter has 16 comparisons`
	list("PartitionKey eq 'p' and (" + five + " or " + five + ")")
}

func joined(numbers []int) {
	var parts []string
	for _, n := range numbers {
		parts = append(parts, fmt.Sprintf("A eq %d", n))
	}
	list("PartitionKey eq 'p' and (" + strings.Join(parts, " or ") + ")") // want `a loop adds comparisons to the filter without a limit`
}

func built(numbers []int) {
	var b strings.Builder
	b.WriteString("PartitionKey eq 'p'")
	for _, n := range numbers {
		fmt.Fprintf(&b, " and A ne %d", n)
	}
	list(b.String()) // want `a loop adds comparisons`
}

func limited(numbers []int) {
	filter := "PartitionKey eq 'p'"
	for i, n := range numbers {
		if i == 14 {
			break
		}
		filter += fmt.Sprintf(" and A ne %d", n)
	}
	list(filter)
}

func tooMany(x bool) { // more texts than are followed
	filter := "PartitionKey eq 'p'"
	if x {
		filter += " and A eq 1"
	}
	if !x {
		filter += " and B eq 1"
	}
	list(filter)
}

func separated(numbers []int) {
	var b strings.Builder
	for i, n := range numbers {
		if i > 0 {
			b.WriteString(" and ")
		}
		fmt.Fprintf(&b, "A ne %d", n)
	}
	list("PartitionKey eq 'p' and " + b.String()) // want `a loop adds comparisons`
}
