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
	// the first release inserts an employee      requests: 1 [Table.Insert]
	// hire an employee and count                 requests: 1 [Table.Batch]
	// read the partition                         requests: 1 [Table.Query]
	//   Ken Kwok of version 1, Ann Beebe of version 2, a department of 2
	// update the employee of the first release   requests: 2 [Table.Get Table.Replace]
	//   now version 2
}
