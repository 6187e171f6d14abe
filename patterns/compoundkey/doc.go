// Package compoundkey stores a parent entity and its children in one partition, under row
// keys that are composed of their IDs: an employee and the yearly reviews, an order and
// its lines. One request returns what a join would return.
//
// # Problem
//
// Reviews in a table of their own cannot change in one transaction with the employee, and
// reading both takes two requests.
//
// # Layout
//
//	PartitionKey  RowKey        properties
//	Sales         000123_       FirstName, LastName, Age, EmailAddress
//	Sales         000123_2011   ManagerRating, PeerRating, Comments
//	Sales         000123_2012   ManagerRating, PeerRating, Comments
//
// The IDs are escaped by [keys.Escape], so that they contain no "_": the rows of 000123
// are those that begin with "000123_", and rows of 0001230 or 000124 are not among them,
// whatever characters IDs contain.
//
// The design guide stores the parent without the separator. [Options.BareParent] reads and
// writes that form, for tables that exist:
//
//	PartitionKey  RowKey        properties
//	Sales         000123        FirstName, LastName, Age, EmailAddress
//	Sales         000123_2012   ManagerRating, PeerRating, Comments
//
//	compoundkey.New(client, parentID, childID, &compoundkey.Options{BareParent: true})
//
// Rows of 0001230 are then between those of 000123. [Family.Get] and [Family.Delete] read
// and drop them; if all IDs have the same length there are none.
//
// # Cost
//
//	Insert, Commit              1 request, a transaction of up to 100 rows
//	AddChild                    1 request
//	Parent, Child               1 request, a point read
//	Get                         1 request for each 1,000 rows
//	Children                    1 request for each 1,000 rows
//	Page                        1 request
//	Update                      3 requests without a conflict: two reads, one transaction
//	Delete                      1 request for each 1,000 rows, 1 for each 100 rows
//
// # Limits
//
// Both IDs, escaped, and the separator have at most 512 UTF-16 units. Children are sorted
// by their IDs as text: numbers need a fixed width, see [keys.Digits]. All rows of a
// family, and of all families in its partition, share that partition's limit of 2,000
// entities per second.
//
// # Lost replies
//
// Insert, AddChild and a [Transaction] mean what [patterns.Batch] and [patterns.Table.Insert]
// mean if a reply does not arrive; [Options.StampWrites] stamps both types. Update writes
// under the ETags that it read and is applied at most once. Delete has no condition: a late
// attempt deletes rows that were inserted again under the same keys.
//
// # When not to use it
//
// If children are rarely read with their parent, if parents are often read alone, or if
// there are too many children for a partition, store them in a table of their own.
//
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#compound-key-pattern
package compoundkey
