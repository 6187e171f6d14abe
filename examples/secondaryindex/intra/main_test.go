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
	// create the table                           requests: 1 [Table.CreateTable]
	// insert Jones                               requests: 1 [Table.Batch]
	// insert Kwok                                requests: 1 [Table.Batch]
	// find by address                            requests: 1 [Table.Get]
	//   Jim empid_000223
	// list the addresses that begin with k       requests: 1 [Table.Query]
	//   [kenk@contoso.com]
	// change an address                          requests: 2 [Table.Get Table.Batch]
	// insert with an address that is taken       requests: 3 [Table.Batch Table.Get Table.Get]
	//   refused by the index email
	// delete an employee                         requests: 2 [Table.Get Table.Batch]
}
