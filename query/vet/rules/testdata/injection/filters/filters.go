// Package filters writes filters for another package.
package filters

import (
	"fmt"
	"strings"
)

func ByName(city, name string) string {
	if name == "" {
		return fmt.Sprintf("PartitionKey eq '%s'", city)
	}
	return fmt.Sprintf("PartitionKey eq '%s' and RowKey eq '%s'", city, name)
}

func Safe(city, name string) string {
	return fmt.Sprintf("PartitionKey eq '%s' and RowKey eq '%s'", Doubled(city), Doubled(name))
}

// Doubled is named so that its name does not show what it does.
func Doubled(s string) string { return strings.ReplaceAll(s, "'", "''") }
