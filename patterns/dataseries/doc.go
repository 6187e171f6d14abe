// Package dataseries stores a series of values that are read together, such as a counter
// for each hour of a day, in one entity instead of one entity per value. It is the data
// series pattern.
//
// # Problem
//
// With one row for each hour, drawing a chart of a day reads 24 rows. Each of them costs
// as much to write, store and scan as one row with the whole day.
//
// # Layout
//
// A series is a ring of slots. Slot 7 of [HoursOfDay] contains the value of 07:00 to 08:00
// (UTC) of one day. The value of the next day overwrites it:
//
//	PartitionKey  RowKey   Value007  Turn007  Value008  Turn008  …
//	Sales         000123_  12        16282    7         16281
//
// The turn counts the rounds of the ring, here the days since 1970-01-01. A value is
// returned only for its own turn, so that yesterday's value of 08:00 is never taken for
// today's. Slot numbers have three digits or more, so that property names sort. A ring of
// more than 125 slots needs several rows of up to 125 slots: 000123_, 000123_01, …
//
// # The layout of the design guide
//
// Other programs may store a series as the design guide prints it: one property for each
// slot, numbered from 1, in the row that has the name of the series as its key.
// [Options.Property] reads and writes that form:
//
//	PartitionKey  RowKey  MessageCountHour01  …  MessageCountHour24
//	Sales         000123  12                     40
//
//	dataseries.New[int32](client, dataseries.HoursOfDay(),
//		&dataseries.Options{Property: "MessageCountHour"})
//
// A ring of more than 252 slots has several rows of up to 252 slots, with MessageCountDay001
// in 000123_01 and MessageCountDay253 in 000123_02. Such a row does not store the turn: a
// slot contains the value that was written last, which is returned for every turn. For one
// row for each day, put the day into [ID.Series]. Nothing is late: Set and SetAll make one
// request, and ErrLate does not occur. Add and Update add the property azp_adds, see below,
// unless the row has 252 slots; they add no other. Other programs may drop it. Their writes
// without an ETag may overwrite an addition, as those of Set do.
//
// # Cost
//
//	Set       1 request: merges one slot without a read
//	Set late  2 requests: the value of an earlier turn must not overwrite a later one
//	SetAll    1 request: a transaction if there are several rows
//	Add       2 requests without conflicts: a read and a conditional merge
//	Update    the same
//	Get       1 request for all rows of the ring
//
// # Exactly-once additions
//
// Set writes an absolute value, so that repeating it changes nothing. Add reads the row,
// and merges the new value on the condition that the row has not changed. The row stores
// random IDs of its last 48 additions in the property azp_adds. They show whether an
// addition whose reply was lost was carried out, so it is neither lost nor made twice.
// Writers of different slots do not overwrite one another's values. Concurrent additions
// to one row conflict and are repeated.
//
// # Lost replies
//
// Add and Update write on the condition that the row has not changed, so a late attempt
// changes nothing that was written since; only the insert of a new row may come late, and
// creates it again if it was deleted meanwhile. Add and Update return
// [patterns.ErrOutcomeUnknown] only if the row no longer shows the outcome or cannot be read.
// With [Options.Property] the row does not show the outcome after a change by another writer
// if it had no azp_adds before, or if another program has dropped that property.
// Set and SetAll have no condition: an attempt whose reply did not arrive may be applied
// twice, or late, over a newer value of the slot.
//
// # When not to use it
//
// Do not use it if values are looked up one by one or by their content, or if a series has
// no natural length. Use a row for each value, or a blob.
//
// The pattern:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#data-series-pattern
package dataseries
