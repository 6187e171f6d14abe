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
	// insert a year                              requests: 1 [Table.Batch], rows written: 3
	// read the year                              requests: 1 [Table.Query], rows written: 0
	//   1 to 365
	// change a day                               requests: 1 [Table.Batch], rows written: 2
	// read a day                                 requests: 1 [Table.Query], rows written: 0
	//   1000
	// delete the year                            requests: 2 [Table.Get Table.Batch], rows written: 3
}
