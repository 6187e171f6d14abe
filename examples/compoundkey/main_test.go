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
	// insert an employee with two reviews        requests: 1 [Table.Batch]
	// read the review of 2012                    requests: 1 [Table.Get]
	//   very good
	// read the employee and all reviews          requests: 1 [Table.Query]
	//   Ken Kwok 2 reviews
	// read the ratings from 2012 on              requests: 1 [Table.Query]
	//   [5]
	// add a review and count it                  requests: 1 [Table.Batch]
	// delete the employee and all reviews        requests: 2 [Table.Query Table.Batch]
}
