// Package model declares an entity for the corpus of sysprops.
package model

// An Event has a property of its own whose name resembles that of a system property.
type Event struct {
	PartitionKey, RowKey string
	TimeStamp            string `json:"timeStamp"`
}
