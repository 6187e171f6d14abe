package reindex

import (
	"cmp"
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// SurveyOptions are the options of [Survey]. nil and the zero value mean the defaults.
type SurveyOptions struct {
	// Rows is the largest number of rows to read. Zero means all. A sample is read in 16 pages
	// of 50 to 1000 rows, or more if it has more than 16,000, from the ranges of keys into which
	// [patterns.Table.Scan] cuts the table meanwhile. What a sample does not contain is not in
	// the report: a property that only other rows have, or store with another type, and a layout
	// of which it has only some of the rows.
	Rows int

	// Parallel is the largest number of concurrent requests. Zero means 8. With 1 the rows are
	// read in the order of keys, so a sample is the beginning of the table.
	Parallel int
}

// SurveyReport is what Survey found. It contains names of properties, prefixes of keys, names of
// entity types, and keys that are constant, but no other keys or values. [SurveyReport.WriteGo]
// needs a report that Survey returned; encoding/json can write one, but not read it. It may be read
// concurrently.
type SurveyReport struct {
	Rows     int  // that were read
	Requests int  // to read them, without the SDK's retries
	Sample   bool // not all rows were read

	// Managed are rows that this library maintains: with a property azp_view, azp_part or
	// azp_layout, or a row key that begins with "~azp". They are in no kind.
	Managed int

	// Kinds are the rows by the form of their keys and by their properties, the kind with the
	// most rows first. There are at most 256.
	Kinds []*RowKind

	kinds      []*kind // of Kinds, in their order
	properties int     // of all kinds
}

// RowKind describes rows that have keys of the same form and related properties.
type RowKind struct {
	// Name is that of the Go type for the rows, unique in the report. It is "" if there is none,
	// because the rows belong to entities of another kind.
	Name string

	// Pattern names the package for the layout of the guide that the rows have: "secondaryindex"
	// for copies and "indexentity" for lists of the entities of the kind Of, "compoundkey" for
	// their children, "wideentity" for their further parts; "dataseries" for a series, and
	// "entitytype" for entities that contain the name of their type. It is "" for entities that
	// package patterns reads alone.
	Pattern, Of string

	Rows           int
	Partition, Row KeyForm

	// Discriminator is the property that contains the type of a row, and Value its value. Both
	// are "" if there is none.
	Discriminator, Value string

	// Properties are in the order of their names. There are at most 4,096 in a report; Others
	// counts the values of further ones.
	Properties []*Property
	Others     int
}

// KeyForm describes the partition keys, or the row keys, of a kind.
type KeyForm struct {
	// Prefix is what all keys begin with: a letter, further letters and digits, and "_". It may be "".
	Prefix string

	// Form is that of the keys after the prefix: "digits", "ticks" (19 digits), "date", "GUID",
	// "mail", an e-mail address, "empty", "text", or the forms of the two parts of a compound key, such as
	// "digits_digits".
	Form string

	Width    int    // of all keys after the prefix, in bytes; 0 if it varies
	Constant string // the key, if all rows of the kind have the same one

	Distinct int // keys; 128 means 128 or more
}

// Property describes a property of the rows of a kind.
type Property struct {
	Name    string
	Missing int // rows without the property

	// Types counts the values by EDM type, such as "Edm.Int32". Whole floats that a program
	// without type annotations has stored are Edm.Int32 among Edm.Double.
	Types map[string]int

	// Forms counts the values that are "zero" ("", 0, "0", false, or the zero time as text) and,
	// of texts, those that are a "time" in the form of RFC 3339, a "zoned time" whose offset is
	// not Z, "JSON", an object or array, an "int64", a decimal number, or a "large int64", which
	// is no int32.
	Forms map[string]int

	// Go is the source of the field of the Go type: its name, type and tag. It is "" if there is
	// none: if no Go type holds all values, if the name contains characters that no Go name has, or if
	// the property is the discriminator. Then it is kept as an unknown property.
	Go string

	values, members sample
	separator       string // of members, "[" for a JSON array
	keyed, omitted  bool   // keys of other rows are made of it; some rows of the Go type lack it
}

// Survey reads a table that no program has declared to this library, whole or by a sample. It
// reports the forms of its keys, its properties with their types, and which layouts of the
// design guide its rows have. [SurveyReport.WriteGo] writes the Go types and options with which
// the library reads and changes them. Survey changes nothing.
//
// One request for each 1,000 rows; the service may return shorter pages. If there are several
// pages, Scan makes further requests to read them concurrently, at most about 16 × Parallel and a
// quarter of the others; none if Parallel is 1. At the end of a sample, up to Parallel requests were
// already sent whose pages are not used.
//
// Memory does not depend on the size of the table. It has the counts in the report, up to 256
// hashes of 8 bytes for each property and 768 for each kind, and the pages in flight. The hashes
// relate rows: they are copies, for example, if nine in ten of their keys in the samples are values
// of one property of other rows.
func Survey(ctx context.Context, client *aztables.Client, opts *SurveyOptions) (*SurveyReport, error) {
	o := *cmp.Or(opts, &SurveyOptions{})
	table, err := patterns.NewTable(client, &patterns.TableOptions[surveyRow]{Keyless: true})
	if err = errors.Join(azerr.Default(&o.Rows, 0, "Rows"), azerr.Default(&o.Parallel, 8, "Parallel"), err); err != nil {
		return nil, failed("survey", err)
	}
	r, scan := &SurveyReport{}, &patterns.QueryOptions{Parallel: o.Parallel, PageSize: int(min(max((uint(o.Rows)-1)/16+1, 50), 1000))}
	for page, err := range table.Scan(ctx, query.Filter{}, "", scan) {
		if err != nil {
			return nil, failed("survey", err)
		}
		r.Requests = page.Progress.Requests
		for i := 0; i < len(page.Items) && !r.Sample; i++ {
			r.add(page.Items[i].Key, page.Items[i].Value.Properties)
			r.Sample = r.Rows == o.Rows && (page.Cursor != "" || i+1 < len(page.Items))
		}
		if r.Sample {
			break
		}
	}
	r.relate()
	r.complete()
	return r, nil
}

// surveyRow is a row with all its properties.
type surveyRow struct {
	Properties map[string]any `table:",bag,reserved"`
}
