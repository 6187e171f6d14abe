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
	// hire Ken Kwok                              requests: 2 [Table.Get Table.Batch]
	// hire Ann Beebe                             requests: 2 [Table.Get Table.Batch]
	// read the department                        requests: 1 [Table.Get]
	//   kenk@contoso.com manages 2
	// change the address of the manager          requests: 3 [Table.Get Table.Get Table.Batch]
	// an employee leaves                         requests: 3 [Table.Get Table.Get Table.Batch]
	// read the department again                  requests: 1 [Table.Get]
	//   ken@contoso.com manages 1
}
