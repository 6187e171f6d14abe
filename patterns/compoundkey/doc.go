// Package compoundkey keeps a parent entity and its children in one partition,
// under row keys that join their ids: an employee and the yearly reviews, an order
// and its lines. What a join would give comes in one request.
//
// # Problem
//
// Reviews in a table of their own cannot change in one transaction with the
// employee, and reading both takes two requests.
//
// # Layout
//
//	PartitionKey  RowKey        properties
//	Sales         000123_       FirstName, LastName, Age, EmailAddress
//	Sales         000123_2011   ManagerRating, PeerRating, Comments
//	Sales         000123_2012   ManagerRating, PeerRating, Comments
//
// The ids are escaped ([keys.Escape]), so that "_" stands only between them: the
// rows of 000123 are those that begin with "000123_", and neither 0001230 nor
// 000124 is among them, whatever characters ids hold. The design guide has the
// parent at 000123, without the separator; then parent and children have no range
// of their own. [Options.BareParent] reads and writes that form, for tables that
// exist: [Family.Read] then takes two requests, side by side.
//
// # Cost
//
//	Insert, Commit              1 request, a transaction of up to 100 rows
//	Parent, Child               1 request, a point read
//	Read                        1 request for 1,000 rows (BareParent: one more)
//	Children                    1 request for 1,000 rows
//	Update                      3 requests without a race: two reads, one transaction
//	Delete                      1 request for 1,000 rows, 1 for 100 rows
//
// # Limits
//
// Both ids, escaped, and the separator are at most 512 UTF-16 units. Children come
// in the order of their ids as text: numbers need a fixed width ([keys.Digits]). All
// rows of a family, and of all families in its partition, share that partition's
// 2,000 entities a second.
//
// # When not to use it
//
// When children are rarely read with their parent, and parents often alone, or when
// children are too many for a partition: keep them in a table of their own.
//
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#compound-key-pattern
package compoundkey
