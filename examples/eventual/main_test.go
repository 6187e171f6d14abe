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
	// add a message                              requests: 1 [Queue.Put]
	// the worker archives                        requests: 5 [Queue.Get Table.Get Table.Insert Table.Delete Queue.Delete]
	//   done
	// read the archive                           requests: 1 [Table.Get]
	//   Ken Kwok
	// the message is delivered again             requests: 4 [Queue.Get Table.Get Table.Get Queue.Delete]
	//   done
	// a late message, after he was hired again   requests: 4 [Queue.Get Table.Get Queue.Put Queue.Delete]
	//   poisoned
}
