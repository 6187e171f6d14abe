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
	// same partition:
	// insert 000152                              requests: 2 [Table.Batch Table.Get]
	// insert 000231                              requests: 2 [Table.Batch Table.Get]
	// list the keys of Jones                     requests: 1 [Table.Get]
	//   2 keys
	// read the employees called Jones            requests: 3 [Table.Get Table.Get Table.Get]
	//   [000152 000231]
	// change a last name                         requests: 4 [Table.Batch Table.Get Table.Get Table.Get]
	// other partition:
	// insert 000152                              requests: 7 [Queue.Delete Queue.Put Table.Batch Table.Delete Table.Get Table.Get Table.Insert]
	// insert 000231                              requests: 7 [Queue.Delete Queue.Put Table.Batch Table.Delete Table.Get Table.Get Table.Replace]
	// list the keys of Jones                     requests: 1 [Table.Get]
	//   2 keys
	// read the employees called Jones            requests: 3 [Table.Get Table.Get Table.Get]
	//   [000152 000231]
	// change a last name                         requests: 10 [Queue.Delete Queue.Put Table.Batch Table.Delete Table.Get Table.Get Table.Get Table.Get Table.Insert Table.Replace]
	// blob:
	// insert 000152                              requests: 7 [Blob.Get Blob.Put Queue.Delete Queue.Put Table.Batch Table.Delete Table.Get]
	// insert 000231                              requests: 7 [Blob.Get Blob.Put Queue.Delete Queue.Put Table.Batch Table.Delete Table.Get]
	// list the keys of Jones                     requests: 1 [Blob.Get]
	//   2 keys
	// read the employees called Jones            requests: 3 [Blob.Get Table.Get Table.Get]
	//   [000152 000231]
	// change a last name                         requests: 10 [Blob.Get Blob.Get Blob.Put Blob.Put Queue.Delete Queue.Put Table.Batch Table.Delete Table.Get Table.Get]
}
