// Package denormalize keeps properties of one entity inside others, so that what is
// read together comes in one read: the manager's name in the department, the number of
// its employees beside it. The copies are views of a [patterns.Store], which keeps
// them right.
//
// # Problem
//
// A department that holds its manager's id takes a second read for the manager's
// name. A count of employees takes reading them all.
//
// # Layout
//
//	PartitionKey  RowKey      properties
//	Sales         Department  DepartmentName, EmployeeCount, ManagerName, ManagerEmailAddress
//	Sales         000152      FirstName, LastName, EmailAddress, IsManager
//
// ManagerName and ManagerEmailAddress follow from the employee who is the manager
// ([Into]); EmployeeCount follows from all employees ([Count], [Sum]). The department's
// own properties are not touched. The row has a property azp_merged that says who set
// what.
//
// # Cost
//
// A row in the entity's own partition is read, and changed in the same transaction:
// one request more for each such row. A row elsewhere follows through the outbox; see
// [patterns.Store.Explain].
//
// # Exactness
//
// A counter never drifts. In the entity's partition it changes in the entity's own
// transaction, under its ETag. Elsewhere each member has a mark beside the counter,
// and mark and counter change in one transaction, so that a repeated message counts
// nobody twice, and a counter that somebody deletes is added up again from the marks
// when the next of its members changes; see [patterns.MergeSpec]. Every writer of a
// counter takes its turn: a department that hires a hundred people at once is a queue of
// a hundred transactions.
//
// A counter in the entity's partition has no marks. Who replaces its row as a whole, or
// deletes it, takes the counter away, and it begins again from nothing. Change the row's
// own properties with [patterns.Table.Update] or a merge.
//
// # When not to use it
//
// When what is copied is read rarely, or when a change would touch many rows: the
// manager's name in each employee makes a change of manager a change of all of them.
//
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#denormalization-pattern
package denormalize
