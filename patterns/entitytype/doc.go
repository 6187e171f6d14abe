// Package entitytype stores entities of several types, and several versions of a type, in
// one table, so that they can share a partition and change in one transaction.
//
// # Problem
//
// The service does not store the type of a row. A program that reads departments and
// employees from one partition, some written by an old release and some by a new one,
// needs the type of each row before it can decode it.
//
// # Layout
//
// A property contains the type and the version; its name is [RegistryOptions.Property]:
//
//	PartitionKey  RowKey        EntityType    properties
//	Sales         00010         Employee:2    FirstName, LastName, EmailAddress
//	Sales         00011         Employee:1    Name, EmailAddress
//	Sales         Department    Department:1  DepartmentName, EmployeeCount
//
// With [RegistryOptions.ByRowKey] the row key begins with the name of the type and "_"
// (EMPLOYEE_00010). Entities of two types may then have the same ID, and the entities of
// one type can be read as a range. The property contains only the version; a row without
// it has version 1, or [RegistryOptions.Unversioned].
//
// The design guide stores the name of the type without a version, in EntityType or
// PersonType. [RegistryOptions.Unversioned] and [RegistryOptions.Property] read and write that form:
//
//	PartitionKey  RowKey            PersonType  properties
//	Sales         kenk@contoso.com  Employee    FirstName, LastName, EmployeeID
//	Sales         annb@contoso.com  Customer    FirstName, LastName, Phone
//
//	entitytype.NewRegistry(&entitytype.RegistryOptions{Property: "PersonType", Unversioned: 1})
//
// Version 1 is then stored as the name alone, and later versions as Employee:2. A program
// that does not know versions cannot find the type of those: register a later version after
// the last such program was replaced.
//
// # Reading
//
// One query returns values of all types, each as a pointer to its Go type, for a type
// switch. A row of an old version is converted to the newest one by the upcasters that
// were registered with the versions. A row whose type is not registered is an *[Unknown]:
// its properties with their types, which a write keeps.
//
// # Cost
//
// That of a patterns.Table: a Get, an Insert, a Replace and a transaction are one request
// each, a query is one for each 1,000 rows. An Update is two requests without a conflict.
// The property adds its name, the name of the type and the version to every row.
//
// # Lost replies
//
// Every write means what the method of the same name of [patterns.Table] means if its reply
// does not arrive, and a transaction what [patterns.Batch] means. With [Options.StampWrites] the
// rows of all types have stamps, which show whether a write was applied. Without, a write that
// depends on a version ends with [patterns.ErrOutcomeUnknown] if an attempt had no reply and the
// row has changed: an Insert whose row exists, a Replace or Merge under an ETag, an Update and a
// Transaction. Equal content is no proof, because another client may have stored it. An
// Update then does not start over.
//
// # When not to use it
//
// If a table contains entities of one type whose fields rarely change, use a
// patterns.Table.
//
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#working-with-heterogeneous-entity-types
package entitytype
