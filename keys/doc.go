// Package keys formats values as PartitionKey and RowKey text that is legal, sorts
// like the values, and can be parsed back. It imports only the standard library and
// does no I/O.
//
// # Legal
//
// A key is any text of at most [MaxUnits] UTF-16 code units, including the empty
// text, without the characters / \ # ? and without the control characters U+0000
// to U+001F and U+007F to U+009F. The error of [Key.Validate] names the key and the
// character that is not allowed. [Escape] makes any text legal.
//
// # Ordered
//
// The Table service returns rows in the order of PartitionKey, then RowKey. It
// compares both as UTF-16 code units, as [Compare] does. Go's < on strings is
// different: it sorts characters above U+FFFF after those from U+E000 to U+FFFF.
// Numbers and times sort correctly only as text of fixed width: use [Digits],
// [Int64], [Float64] or [Ticks], and [InvertedTicks] for newest first.
//
// # Reversible
//
// Every function that formats a value has a counterpart that parses the text. The
// parser returns an [*Error] for any text that the formatter does not produce.
//
// # Composite keys
//
// [Layout] joins the fields of a struct with "_". No formatted field contains that
// character, so the keys that share their first fields are exactly one [Range].
// [Spread] divides a busy partition into hash buckets.
//
// The rules are documented at
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model
// and
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns.
package keys
