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
	// append a claim                             requests: 1 [Table.Insert], rows read: 0
	// append 50 claims                           requests: 1 [Table.Batch], rows read: 0
	// the three newest                           requests: 1 [Table.Query], rows read: 3
	//   [2026-02-20 2026-02-19 2026-02-18]
	// the claims of three days                   requests: 1 [Table.Query], rows read: 3
	//   3 claims
	// a page of 20                               requests: 1 [Table.Query], rows read: 20
	//   2026-02-20 and older
	// a page of 20                               requests: 1 [Table.Query], rows read: 20
	//   2026-01-31 and older
}
