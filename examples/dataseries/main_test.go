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
	// set an hour                                requests: 1 [Table.UpsertMerge]
	// set two hours                              requests: 1 [Table.Batch]
	// add 1 to an hour                           requests: 2 [Table.Get Table.Merge]
	// add 1 again, the reply is lost             requests: 5 [Table.Get Table.Merge Table.Merge Table.Get Table.Get]
	// read the day                               requests: 1 [Table.Get]
	//   [09h 2 21h 7 22h 12 23h 40]
	// read the day before                        requests: 1 [Table.Get]
	//   0 values
}
