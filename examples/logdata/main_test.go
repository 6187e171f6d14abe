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
	// write 7,200 records in 12 flushes          requests: 24 map[Blob.Append:12 Blob.Put:2 Blob.SetMetadata:10]
	// find the errors of two minutes             requests: 2 map[Blob.Get:1 Blob.List:1]
	//   [15:05:00 disk full] in 1 blob, 600 lines read
	// find the warnings of two hours             requests: 2 map[Blob.List:2]
	//   0 warnings
}
