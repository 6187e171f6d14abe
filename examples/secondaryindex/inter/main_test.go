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
	// create the tables and the queue            requests: 6 [Queue.CreateQueue Table.CreateTable Table.CreateTable Table.Get Table.Insert Table.Query]
	// insert an employee                         requests: 6 [Queue.Delete Queue.Put Table.Batch Table.Delete Table.Insert Table.Replace]
	// find by badge                              requests: 1 [Table.Get]
	//   Jim Jones in Sales
	// find by badge, checked                     requests: 2 [Table.Get Table.Get]
	//   the copy is fresh
	// change a badge                             requests: 10 [Queue.Delete Queue.Put Table.Batch Table.Delete Table.Delete Table.Get Table.Get Table.Get Table.Insert Table.Replace]
	// insert with a badge that is taken          requests: 5 [Queue.Delete Queue.Put Table.Get Table.Get Table.Insert]
	//   refused by the index badge
}
