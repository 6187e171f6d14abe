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
	// POST /staff/Sales/1                        requests: 1 [Table.Insert]
	//   201 {"ID":"1","Name":"Ken"}
	// POST /staff/Sales/2                        requests: 1 [Table.Insert]
	//   201 {"ID":"2","Name":"Ann"}
	// POST /staff/Sales/3                        requests: 1 [Table.Insert]
	//   201 {"ID":"3","Name":"Jun"}
	// POST /staff/Sales/3                        requests: 1 [Table.Insert]
	//   409 insert: already exists (409 EntityAlreadyExists)
	// GET /staff/Sales/1                         requests: 1 [Table.Get]
	//   200 {"ID":"1","Name":"Ken"}
	// PUT /staff/Sales/1                         requests: 1 [Table.Replace]
	//   200 {"ID":"1","Name":"Ken Kwok"}
	// PUT /staff/Sales/1                         requests: 1 [Table.Replace]
	//   412 replace: changed since it was read (412 UpdateConditionNotSatisfied)
	// GET /staff/Sales/4                         requests: 1 [Table.Get]
	//   404 get: not found (404 ResourceNotFound)
	// GET /staff/Sales                           requests: 1 [Table.Query]
	//   200 [{"ID":"1","Name":"Ken Kwok"},{"ID":"2","Name":"Ann"}]
	// GET /staff/Sales                           requests: 1 [Table.Query]
	//   200 [{"ID":"3","Name":"Jun"}]
	// GET /staff/Marketing                       requests: 0 []
	//   400 page: cursor does not belong to this query
}
