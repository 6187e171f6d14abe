// Package denormalize stores properties of one entity inside others, so that a reader
// needs one request: the manager's name in the department, next to the number of its
// employees. It implements the denormalization pattern. The stored properties are views of
// a [patterns.Store], which keeps them up to date.
//
// # Problem
//
// If a department contains only its manager's id, the manager's name takes a second
// request. Counting the employees takes reading all of them.
//
// # Layout
//
//	PartitionKey  RowKey      properties
//	Sales         Department  DepartmentName, EmployeeCount, ManagerName, ManagerEmailAddress
//	Sales         000152      FirstName, LastName, EmailAddress, IsManager
//
// ManagerName and ManagerEmailAddress are derived from the employee who is the manager
// ([Into]), EmployeeCount from all employees ([Count], [Sum]). The department's own
// properties are not changed. Its row has a property azp_merged that records which entity
// stored which properties.
//
// Here the department is in the partition of its employees ([Intra]). It can also be in another
// partition, of the same or another table ([Inter]).
//
// # Cost
//
// A row in the entity's own partition is read, and changed in the same transaction: one
// request more for each such row. A row elsewhere is updated through the outbox, in fewer
// round trips with a [patterns.Finisher]; see [patterns.Store.Explain].
//
// # Exactness
//
// A counter never drifts. In the entity's partition it changes in the entity's own
// transaction, under its ETag. Elsewhere each counted entity has a mark next to the
// counter, and mark and counter change in one transaction, so a repeated message counts no
// entity twice. A counter that is deleted is added up again from the marks when the next
// of its entities changes; see [patterns.MergeSpec]. Writers of one counter wait for each
// other: a hundred concurrent hires in one department take a hundred transactions in
// sequence.
//
// A counter in the entity's partition has no marks. A client that replaces its row as a
// whole, or deletes it, removes the counter, which then starts from zero. Change the row's
// own properties with [patterns.Table.Update] or a merge. Likewise a program written by hand that
// replaces an employee removes azp_views, so the Store cannot know that the employee is counted
// there, and counts it again with its next change. Let such programs merge into employees, or
// store the counter elsewhere: there the mark prevents it.
//
// # Stores of both types
//
// The departments may have a Store of their own. If employees were hired first, the row of
// their department has only what was merged into it, and is no entity yet: Store.Get returns
// [patterns.ErrNotFound]. Insert and Put of the department keep what was merged, also in
// properties for which the department's type has fields; the item that they return has these
// values. Later, change the department with Update or PutItem, or leave out such fields: a
// Put with other values overwrites them. A delete of the department removes the whole row. A
// counter elsewhere than in the employees' partition is then added up again with the next
// change of an employee; one in their partition is lost.
//
// An entity that is older than the view is counted when a Store adds the view to it. So
// before that, set a counter that another program has kept to zero. It keeps its type.
//
// # When not to use it
//
// If the properties are rarely read, or if one change would concern many rows: with the
// manager's name in every employee, a new manager changes all employees.
//
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#denormalization-pattern
package denormalize
