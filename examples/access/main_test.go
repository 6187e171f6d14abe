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
	// sign a token                               requests: 0 []
	//   https://devstoreaccount1.table.storagetest.invalid/Claims?sig=REDACTED
	// alice adds a claim                         requests: 1 [Table.Insert]
	// alice reads her claims                     requests: 1 [Table.Query]
	//   sum 31.5
	// alice reads a claim of bob                 requests: 1 [Table.Get]
	//   403 AuthorizationFailure
	// alice deletes a claim                      requests: 1 [Table.Delete]
	//   403 AuthorizationPermissionMismatch
}
