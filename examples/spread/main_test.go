package main

import (
	"fmt"
	"os"
)

func Example() {
	if err := run(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// write 400 events                           requests: 400 map[Table.Insert:400]
	//   8 partitions, the busiest receives 51 events
	// read an event                              requests: 1 map[Table.Get:1]
	//   04_2014073118 signed in
	// read the hour                              requests: 8 map[Table.Query:8]
	//   PartitionScan of 8 partitions, 400 events
}
