package table

import (
	"net/url"
	"strings"
)

// addressOf returns the address of a row below the account.
func addressOf(table, partition, row string) string {
	return table + "(PartitionKey='" + escapeKey(partition) + "',RowKey='" + escapeKey(row) + "')"
}

// escapeKey returns a key as it is written between the quotes of an address.
func escapeKey(key string) string {
	escaped := url.QueryEscape(strings.ReplaceAll(key, "'", "''"))
	return strings.NewReplacer("+", "%20", "%27", "'").Replace(escaped)
}
