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
	// the first login of a day                   requests: 3 map[Table.CreateTable:1 Table.Insert:2]
	// 3,000 logins of three days                 requests: 32 map[Table.Batch:30 Table.CreateTable:2]
	// the logins of a user in three days         requests: 5 map[Table.ListTables:1 Table.Query:4]
	//   3001 logins
	// delete two days                            requests: 3 map[Table.DeleteTable:2 Table.ListTables:1]
	//   2 tables of 1,000 rows each
	// a late login                               requests: 0 map[]
	//   insert: table Logins20140729: the period has been dropped: writes are accepted from 2014-07-31T00:00:00Z on
	// delete one day row by row                  requests: 13 map[Table.Batch:11 Table.Query:2]
	//   1001 rows
}
