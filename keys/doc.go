// Package keys makes the text of PartitionKey and RowKey: legal, ordered and
// reversible. It is pure; it imports nothing but the standard library and does
// no I/O.
//
// # Legal
//
// A key may hold any text of at most [MaxUnits] UTF-16 code units, also none,
// except the characters / \ # ? and the control characters U+0000 to U+001F
// and U+007F to U+009F. [Key.Validate] tells which character of which key is
// wrong. [Escape] makes any text legal.
//
// # Ordered
//
// The Table service answers in the order of PartitionKey, then RowKey, both
// compared as UTF-16 code units. That is the order of [Compare]; Go's own < on
// strings differs from it where a character above U+FFFF meets one from U+E000
// to U+FFFF. Numbers and times keep their order only in a fixed width:
// [Digits], [Int64], [Float64], [Ticks], and [InvertedTicks] for newest first.
//
// # Reversible
//
// Every function that makes text has a counterpart that reads it back and that
// refuses, with an [*Error], whatever its partner could not have written.
//
// # Made of parts
//
// [Layout] joins the fields of a struct with "_", a character that no part ever
// holds, so that the keys that share their first fields are one exact [Range].
// [Spread] divides a partition that would be too busy into hash buckets.
//
// The rules rest on
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model
// and
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns.
package keys
