package query

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// A Plan says what a filter will cost before it is sent, and how it will run.
type Plan struct {
	// Class is that of the costliest read of the rewritten filter; of a filter
	// that no row can pass it is Point, of a broken one TableScan.
	Class Class

	// Plain is the class of the filter sent as it is, in one request.
	Plain Class

	// Requests is how many requests it takes at least: one for each read. Each
	// further page of up to 1,000 rows is one more, and so may be each partition.
	Requests int

	// Comparisons counts those of the filter as it is.
	Comparisons int

	// Warnings are what makes the filter slow or wrong, each with its remedy.
	Warnings []Warning

	filter Filter
	reads  []Read
}

// ExplainOptions say what is known of the table. Nil, and the zero value, is
// nothing.
type ExplainOptions struct {
	// Schema holds the properties of the rows; with it, literals of a wrong type
	// and unknown properties are warned of.
	Schema Schema

	// Siblings are the prefixes of row keys in use, one for each type of row or
	// index, such as "empid_" and "email_"; with them, [WarnPrefixSiblings]
	// tells a range that covers two of them. Without, it goes by the look of a
	// prefix.
	Siblings []string
}

// Explain plans f. It sends nothing.
func Explain(f Filter) Plan { return ExplainWith(f, nil) }

// ExplainWith plans f with what is known of the table.
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
			Remedy:  "Look at the error that Err gives.",
		}}
		return p
	}
	p.Plain = classOf(plainBounds(f.root))
	reads, ok := rewrite(f.root)
	p.reads, p.Requests, p.Class = reads, len(reads), Point
	for i := range reads {
		p.Class = max(p.Class, reads[i].Class)
	}
	a := adviser{plan: &p, opts: *opts}
	if !ok {
		a.warn(Warning{
			Code:    WarnTooComplex,
			Problem: "the conditions on both keys give too many combinations to rewrite the filter",
			Remedy:  "Query for each combination by itself.",
		})
	}
	a.advise(f.root)
	return p
}

// Reads gives the rewritten filter: reads that return no row twice, each in the
// order of the keys, and together exactly the rows that the filter lets
// through. There are none when no row can pass.
//
// An or of keys becomes point reads, several partitions one read each. Reads
// that differ in nothing but a bound are one; no read has more than
// [MaxComparisons] comparisons, unless [WarnTooManyComparisons] says that it
// was not to be avoided. The slice belongs to the plan.
func (p Plan) Reads() []Read { return p.reads }

// ErrScan is matched by the error for a filter that costs more than the caller
// accepts.
var ErrScan = errors.New("query: the filter would read more than is allowed")

// A ScanError refuses a filter before it is sent. Its text holds no values;
// the verb %+v adds the plan with them.
type ScanError struct {
	Plan  Plan
	Allow Class // the costliest class that the caller accepts; 0 is the default of [Plan.Check]
}

func (e *ScanError) Error() string {
	msg := "query: refused: " + e.Plan.Class.String() + " where at most " + allowed(e.Allow).String() + " is allowed"
	for _, w := range e.Plan.Warnings {
		if !w.Solved {
			return msg + ": " + w.Remedy
		}
	}
	return msg
}

// Format writes the error, and for %+v the plan below it.
func (e *ScanError) Format(s fmt.State, verb rune) {
	fmt.Fprint(s, e.Error())
	if verb == 'v' && s.Flag('+') {
		fmt.Fprintf(s, "\n%+v", e.Plan)
	}
}

// LogValue keeps from a log what only %+v tells.
func (e *ScanError) LogValue() slog.Value { return azerr.LogValue(e) }

// Is reports true for [ErrScan].
func (e *ScanError) Is(target error) bool { return target == ErrScan }

// Check refuses a plan that costs more than allow with a [*ScanError], and a
// broken filter with its own error. The zero Class allows all but a
// [TableScan].
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

// String is the plan as a database explains one, with a question mark for each
// value, so that it may be logged. The verb %+v shows the values.
func (p Plan) String() string { return p.text(false) }

// Format writes the plan; %+v with the values of the filter.
func (p Plan) Format(s fmt.State, verb rune) {
	fmt.Fprint(s, p.text(verb == 'v' && s.Flag('+')))
}

// LogValue keeps the values out of a log: [slog.TextHandler] prints with %+v.
func (p Plan) LogValue() slog.Value { return slog.StringValue(p.String()) }

func (p Plan) text(values bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v  (requests at least %d, comparisons %d", p.Class, p.Requests, p.Comparisons)
	if p.Plain != p.Class {
		fmt.Fprintf(&b, ", as it is %v", p.Plain)
	}
	b.WriteString(")\n")
	p.writeReads(&b, values)
	for _, w := range p.Warnings {
		b.WriteString("  Warning " + w.String() + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// writeReads writes reads that look the same in one line, and no more than a
// page of them.
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

// longest is how many bytes of a filter without its values are worth a reader's time.
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
