// Command tablectl moves, compares, checks and repairs tables of Azure Storage, and handles the poison queues and heat maps of
// programs that use package patterns.
//
//	go run ./examples/tablectl help
//	go run ./examples/tablectl export -demo Types -
//
// README.md describes the commands, the file format and the exit codes. It knows no Store but that of -demo: a service calls
// tablectl.Main with its own.
package main

import "github.com/azpatterns/azpatterns/patterns/tablectl"

func main() { tablectl.Main() }
