// Package dataseries keeps a series of values that are read together, such as a
// counter for each hour of a day, in one entity instead of one entity a value.
//
// # Problem
//
// With a row for each hour, drawing a day takes 24 rows, and each costs as much to
// write, store and scan as the whole day.
//
// # Layout
//
// A series is a ring of slots. Slot 7 of the hours of a day holds the value of 07:00
// to 08:00 (UTC) of the day that its turn says; the next day's value takes its place:
//
//	PartitionKey  RowKey   Value007  Turn007  Value008  Turn008  …
//	Sales         000123_  12        16282    7         16281
//
// A turn is the number of the round: here days since 1970. A value is read only with
// its own turn, so that yesterday's value at 08:00 never shows up as today's. Numbers
// are three digits wide and the names sort. A ring of more than 125 slots takes
// several rows, 000123_, 000123_01, …, of 125 slots each.
//
// # Cost
//
//	Set       1 request: a merge of one slot, without a read
//	Set late  2 requests: a value of an earlier turn must not hide a later one
//	SetAll    1 request, a transaction where there are several rows
//	Add       2 requests without a race: a read, a conditional merge
//	Read      1 request, all rows of the ring
//
// # Exactness
//
// Set writes an absolute value: doing it twice is doing it once. Add is
// read-modify-write; the row remembers the identities of its last 48 additions in
// azp_adds, so that an addition whose reply was lost is neither forgotten nor made
// twice. Writers of different slots do not disturb one another's values; additions
// to one row take turns.
//
// # When not to use it
//
// When values are looked up one by one or by their content, or when a series has no
// natural length: use a row a value, or a blob.
//
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#data-series-pattern
package dataseries
