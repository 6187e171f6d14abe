package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// columns are what the first line of a file must say.
const columns = "department,id,first,last,email,age,time,amount,purpose"

// maxLine keeps every field within what a property can hold.
const maxLine = 32 << 10

// The years that a property can hold.
const firstYear, lastYear = 1601, 9999

// record is one line: a claim, and the employee who made it.
type record struct {
	employee Employee
	claim    Claim
}

// badLine is a line that is left out.
type badLine struct {
	number int
	reason error
}

func (b *badLine) Error() string { return fmt.Sprintf("line %d: %v", b.number, b.reason) }

// records reads a file line by line. A line that cannot be used is a *badLine, and
// reading goes on; any other error ends it. A field may be quoted, but not hold a
// line break, so that one bad quote costs one line.
func records(file io.Reader) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		lines := bufio.NewReader(file)
		for number := 1; ; number++ {
			line, err := readLine(lines)
			if err != nil && err != io.EOF {
				yield(record{}, err)
				return
			}
			last := err == io.EOF
			line = strings.TrimRight(line, "\r\n")
			switch {
			case number == 1:
				if got := strings.TrimPrefix(line, "\ufeff"); got != columns {
					yield(record{}, fmt.Errorf("line 1 must be %q", columns))
					return
				}
			case line != "":
				r, err := parse(line)
				if err != nil {
					err = &badLine{number, err}
				}
				if !yield(r, err) {
					return
				}
			}
			if last {
				return
			}
		}
	}
}

// readLine reads a line with its end. Of one that is too long it keeps just enough to
// tell: a file without any end of line would fill the memory.
func readLine(r *bufio.Reader) (string, error) {
	const kept = maxLine + len("x\r\n")
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part[:min(len(part), kept-len(line))]...)
		if err != bufio.ErrBufferFull {
			return string(line), err
		}
	}
}

func parse(line string) (record, error) {
	if len(line) > maxLine {
		return record{}, fmt.Errorf("longer than %d bytes", maxLine)
	}
	if !utf8.ValidString(line) {
		return record{}, errors.New("not UTF-8")
	}
	f, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil {
		var p *csv.ParseError
		if errors.As(err, &p) {
			err = p.Err
		}
		return record{}, err
	}
	if want := strings.Count(columns, ",") + 1; len(f) != want {
		return record{}, fmt.Errorf("%d fields, want %d", len(f), want)
	}
	age, err := strconv.ParseInt(f[5], 10, 32)
	if err != nil {
		return record{}, errors.New("age is not a whole number")
	}
	when, err := time.Parse(time.RFC3339, f[6])
	if err != nil {
		return record{}, errors.New("time is not of the form 2026-01-05T08:00:00Z")
	}
	if y := when.UTC().Year(); y < firstYear || y > lastYear {
		return record{}, fmt.Errorf("time is not of the years %d to %d", firstYear, lastYear)
	}
	amount, err := strconv.ParseFloat(f[7], 64)
	if err != nil {
		return record{}, errors.New("amount is not a number")
	}
	r := record{
		Employee{Department: f[0], ID: f[1], FirstName: f[2], LastName: f[3], EmailAddress: f[4], Age: int32(age)},
		Claim{EmployeeID: f[1], Time: when, Amount: amount, Purpose: f[8]},
	}
	return r, r.employee.key().Validate()
}
