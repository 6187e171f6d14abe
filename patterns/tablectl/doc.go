// Package tablectl is a command that moves, compares, checks and repairs tables of Azure Storage. It exports them to JSON lines
// without losing a type, imports, copies and compares them, and handles the views, the poison queues and the heat maps of
// programs that use package patterns.
//
// # Use
//
// For tables without a Store there is a program to install:
//
//	go install github.com/azpatterns/azpatterns/examples/tablectl@VERSION
//	tablectl help
//
// Its README describes the commands, the file format and the exit codes.
//
// # Your own Stores
//
// What a view contains is Go code, so no program can read it from a table. The commands verify, repair, sweep and journal know the
// Stores with which a program calls [Main]. A service has a second program, which declares each Store by the function that the
// service uses:
//
//	func main() {
//		tablectl.Main(tablectl.StoreOf("orders", func(a *tablectl.Account) (*patterns.Store[orders.Order], error) {
//			return orders.NewStore(a.Table("Orders"), a.Table("OrderIndex"))
//		}))
//	}
//
// The command sweep also takes what [ToSweep] declares, such as entities that expire, and the command journal what [JournalOf]
// declares; examples/servicectl has all three.
// The program has all other commands as well. Its flags select the account, so it declares no client and reads no secret.
//
// # Cost
//
// The package links the SDK for tables, queues and identities, and the account of patterns/storagetest, in which import and copy
// try what they would write. A service that does not import it links none of this.
package tablectl
