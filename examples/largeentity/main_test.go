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
	// insert an employee                         requests: 4 [Table.Get Queue.Put Blob.Put Table.Insert]
	// read the row                               requests: 1 [Table.Get]
	//   the photo has 300000 bytes, 0 were read
	// read the employee with the photo           requests: 2 [Table.Get Blob.Get]
	//   300000 bytes were read
	// change the name                            requests: 1 [Table.Replace]
	// change the photo                           requests: 3 [Queue.Put Blob.Put Table.Replace]
	// delete the employee                        requests: 3 [Table.Get Queue.Put Table.Delete]
	// sweep                                      requests: 1 [Blob.List]
	//   2 blobs, 0 to delete
}
