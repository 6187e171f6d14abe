package main

import (
	"context"
	"fmt"
	"os"
)

// Example checks the whole output: the cost of each layout is part of the contract.
func Example() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// partition key = hour
	//   writes: 1000 events to 1 partition(s), 100% of them to the busiest
	//   reading the hour: PartitionScan, 1000 events in 1 request(s), 1000 rows read by the service
	//
	// partition key = employee
	//   writes: 1000 events to 40 partition(s), 2% of them to the busiest
	//   reading the hour: TableScan, 1000 events in 1 request(s), 1000 rows read by the service
	//
	// partition key = bucket and hour
	//   writes: 1000 events to 16 partition(s), 7% of them to the busiest
	//   reading the hour: PartitionScan, 1000 events in 16 request(s), 1000 rows read by the service
}
