package query

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// A Plan describes how a filter is executed and what it costs. A Plan is not changed by
// its methods, so it may be read concurrently.
type Plan struct {
	// Class is the class of the most expensive read of the rewritten filter. For a
	// filter that no row can match it is Point, for an invalid filter TableScan.
	Class Class

	// Plain is the class of the filter if it is sent unchanged, in one request.
	Plain Class

	// Requests is the minimum number of requests: one for each read. Each further page
	// of up to 1,000 rows takes one more, and each further partition can take one more.
	Requests int

	// Comparisons is the number of comparisons of the original filter.
	Comparisons int

	// Warnings are the problems that make the filter slow or wrong, with remedies.
	Warnings []Warning

	filter Filter
	reads  []Read
}

// ExplainOptions describe the table. All fields are optional.
type ExplainOptions struct {
	// Schema contains the properties of the rows. If it is set, the plan warns of
	// unknown properties and of literals of the wrong type.
	Schema Schema

	// Siblings are the prefixes of the row keys in the table, one for each type of row
	// or index, such as "empid_" and "email_". If it is set, [WarnPrefixSiblings]
	// reports ranges that contain two of them. If not, it reports prefixes without a
	// separator.
	Siblings []string
}

// Explain returns the plan of f. It does no I/O.
func Explain(f Filter) Plan { return ExplainWith(f, nil) }

// ExplainWith returns the plan of f for the table that opts describe. opts can be nil. It
// does no I/O.
func ExplainWith(f Filter, opts *ExplainOptions) Plan {
	if opts == nil {
		opts = &ExplainOptions{}
	}
	p := Plan{filter: f, Comparisons: f.Comparisons()}
	if f.err != nil {
		p.Class, p.Plain = TableScan, TableScan
		p.Warnings = []Warning{{
			Code:    WarnBroken,
			Problem: strings.TrimPrefix(f.err.Error(), "query: "),
			Remedy:  "Check the error of Filter.Err.",
		}}
		return p
	}
	partition, row, _ := plainBounds(f.root)
	p.Plain = classOf(partition, row)
	reads, ok := rewrite(f.root)
	p.reads, p.Requests, p.Class = reads, len(reads), Point
	for i := range reads {
		p.Class = max(p.Class, reads[i].Class)
	}
	a := adviser{plan: &p, opts: *opts}
	if !ok {
		a.warn(newWarning(WarnTooComplex, ""))
	}
	a.advise(f.root)
	return p
}

// Reads returns the rewritten filter: a list of reads that together return exactly the
// rows that match the filter, each row once, in key order. It is empty if no row can
// match.
//
// An or of row keys becomes point reads, and several partitions become one read each.
// Adjacent ranges are merged into one read if possible. No read has more than
// [MaxComparisons] comparisons, unless the plan has a [WarnTooManyComparisons] that is
// not solved. The caller must not modify the slice.
func (p Plan) Reads() []Read { return p.reads }

// ErrScan is matched by the error for a filter that costs more than the caller accepts.
var ErrScan = azerr.Sentinel("query: the filter would read more than is allowed")

// A ScanError is returned for a filter that costs more than the caller accepts, before
// any request. Its text contains no values; the verb %+v adds the plan with the values.
type ScanError struct {
	Plan  Plan
	Allow Class // the most expensive class that the caller accepts; 0 means the default of [Plan.Check]
}

// Error returns the class of the filter, the allowed class, and the remedy of the first
// warning that is not solved.
func (e *ScanError) Error() string {
	msg := "query: refused: the filter is a " + e.Plan.Class.String() + ", at most " + allowed(e.Allow).String() + " is allowed"
	for _, w := range e.Plan.Warnings {
		if !w.Solved {
			return msg + ": " + w.Remedy
		}
	}
	return msg
}

// Format writes the error. The verb %+v adds the plan with its values.
func (e *ScanError) Format(s fmt.State, verb rune) {
	fmt.Fprint(s, e.Error())
	if verb == 'v' && s.Flag('+') {
		fmt.Fprintf(s, "\n%+v", e.Plan)
	}
}

// LogValue returns the text without values: [slog.TextHandler] would format e with %+v.
func (e *ScanError) LogValue() slog.Value { return azerr.LogValue(e) }

// Is reports whether target is [ErrScan].
func (e *ScanError) Is(target error) bool { return target == ErrScan }

// Check returns a [*ScanError] if the plan costs more than allow, and the error of the
// filter if it is invalid. The zero Class allows everything except a [TableScan].
func (p Plan) Check(allow Class) error {
	if p.filter.err != nil {
		return p.filter.err
	}
	if allow = allowed(allow); p.Class > allow {
		return &ScanError{Plan: p, Allow: allow}
	}
	return nil
}

func allowed(c Class) Class {
	if c == 0 {
		return PartitionRange
	}
	return c
}

// String returns the plan as text, with a question mark in place of each value, so that
// it can be logged.
func (p Plan) String() string { return p.text(false) }

// Format writes the text of String. The verb %+v includes the values of the filter.
func (p Plan) Format(s fmt.State, verb rune) {
	fmt.Fprint(s, p.text(verb == 'v' && s.Flag('+')))
}

// LogValue returns the text without values: [slog.TextHandler] would format p with %+v.
func (p Plan) LogValue() slog.Value { return slog.StringValue(p.String()) }

func (p Plan) text(values bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v  (requests at least %d, comparisons %d", p.Class, p.Requests, p.Comparisons)
	if p.Plain != p.Class {
		fmt.Fprintf(&b, ", without rewriting %v", p.Plain)
	}
	b.WriteString(")\n")
	p.writeReads(&b, values)
	for _, w := range p.Warnings {
		b.WriteString("  Warning " + w.String() + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// writeReads writes one line for equal texts of reads, and at most a page of lines.
func (p Plan) writeReads(b *strings.Builder, values bool) {
	const most = 20
	for i, lines := 0, 0; i < len(p.reads); lines++ {
		if lines == most {
			fmt.Fprintf(b, "  ->  … %d more reads\n", len(p.reads)-i)
			return
		}
		line := p.reads[i].text(values)
		n := 1
		for i+n < len(p.reads) && p.reads[i+n].text(values) == line {
			n++
		}
		b.WriteString("  ->  " + line)
		if n > 1 {
			b.WriteString("  × " + strconv.Itoa(n))
		}
		b.WriteString("\n")
		i += n
	}
}

// longest is the maximum number of bytes of a filter that is printed without values.
const longest = 500

func (r Read) text(values bool) string {
	text := shape(r.Filter.root)
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + " …"
	}
	if values && r.Filter.root != nil {
		text = r.Filter.String()
	}
	return fmt.Sprintf("%-14v %s", r.Class, text)
}
