// Package oldprogram tests that azpatterns changes nothing in a row but what it is asked to change. It contains no code but tests.
//
// A case makes a pair of struct types: one of an old program, which encodes it by encoding/json and stores it by aztables, and one of the
// same rows for azpatterns, which may lack fields, have fields of a later release, and other types. The row of a case is a random value
// of the old struct, or one that a program in another language could have stored: with all property types, spellings and properties
// that neither struct has. azpatterns then changes one random field, or one member of a field with the option json. All that is stored
// is read as text before and afterwards. Every other property must have the same text and type, no property may be added or lost, and
// the old program must read the same value.
//
//   - TestATable changes rows by what a patterns.Table is below its type parameter, which takes the compiler 0.4 s for each type. So its
//     types are new in every run: each 50 cases share a pair.
//   - TestAStore changes them by Table, Batch and Bulk, and by Store, StoreBatch and Store.Bulk with 16 layouts of views, 1 to 4 at a
//     time. Its types are in types_gen_test.go, which go generate writes. There are few, because each has its own instance of all that is
//     generic; -oldprogram.types with -oldprogram.write replaces them by others. A copy must have the stored properties of its primary, or keep its own
//     spelling of a property that has not changed.
//   - TestOtherPatterns changes a row of the layouts of the guide by compoundkey, wideentity and dataseries, and moves rows by eventual.Move.
//   - TestVerify fills tables in the layouts of the guide by hand, before and after a release that adds fields. reindex.Verify finds
//     nothing, also after a Store has changed some of the rows. Then it finds each planted error, and nothing else.
//   - TestBackfillAndRepair adds views to such tables by reindex.Backfill, damages their rows, and repairs them by reindex.Repair. Copies then
//     have the stored properties of their primaries, which have not changed.
//   - FuzzAChangeOfOneField takes types, values and the change from the fuzzer.
//
// Each run has new seeds, which it prints; -oldprogram.seed=n repeats a case and prints its rows. AZPATTERNS_OLDPROGRAM=n runs n cases in each
// mode, and a hundredth of that on Azurite, which unlike the service keeps each spelling of a value.
//
// # What is not kept
//
//   - A declared type (`table:",string"`, `table:",int32"`, the option string of a json tag) is always written, also in place of another stored
//     type. So the rows of the cases have the declared type.
//   - The text of the changed property: it has the form in which the library writes the new value, with the stored type. A number
//     becomes an Edm.Double if it is no longer whole, as in the old program. If the struct has a field for the annotation, X@odata.type,
//     that field decides.
//   - A copy stays as it is if the changed property differs from that of the copy only in the spelling of numbers, or in what is missing
//     instead of zero or empty, also inside of JSON: for a view both are the same.
//   - A property that the row lacked gets the type of its field, which the old program may be unable to read.
//   - Upper-case letters of an Edm.Guid in a copy: the service stores the number, but Azurite the text.
//   - aztables itself decodes the numbers of an entity and encodes them again before it sends them. The comparison begins with what the
//     service has stored.
package oldprogram
