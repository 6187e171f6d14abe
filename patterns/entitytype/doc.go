// Package entitytype keeps entities of several types, and several versions of a
// type, in one table, so that they can share a partition and change in one
// transaction.
//
// # Problem
//
// Nothing in the service tells what type a row is. A program that reads departments
// and employees from one partition, written by an old release and a new one, has to
// know before it decodes.
//
// # Layout
//
// A property names type and version; its name is [Options.Property]:
//
//	PartitionKey  RowKey        EntityType    properties
//	Sales         00010         Employee:2    FirstName, LastName, EmailAddress
//	Sales         00011         Employee:1    Name, EmailAddress
//	Sales         Department    Department:1  DepartmentName, EmployeeCount
//
// With [Options.ByRowKey] the row key begins with the type's name and "_"
// (EMPLOYEE_00010), which keeps equal ids of two types apart and lets one type be
// read by a range; the property, if there, then holds the version alone, and a row
// without it is of version 1.
//
// # Reading
//
// One query gives values of all types, each as a pointer to its Go type, for a type
// switch. A row of an old version is brought up to date by the upcasters that were
// registered with the versions. A row whose type is not registered is an *[Unknown]:
// its properties with their types, which survive a write.
//
// # Cost
//
// That of the Table underneath: a Get, an Insert, a Replace, a transaction are one
// request each, a query one for 1,000 rows. Update takes two without a race. The
// property costs its name, the type's name and the version in every row.
//
// # When not to use it
//
// When a table holds one type of entity and its shape is settled: use a
// patterns.Table.
//
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#working-with-heterogeneous-entity-types
package entitytype
