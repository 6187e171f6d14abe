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

// columns is the first line of a file.
const columns = "department,id,first,last,email,age,time,amount,purpose"

// maxLine is the maximum length of a line in bytes, so that every field fits in a property.
const maxLine = 32 << 10

// The years that a property can contain.
const firstYear, lastYear = 1601, 9999

// record is one line: a claim and its employee.
type record struct {
	employee Employee
	claim    Claim
}

// badLine is the error of a line that is skipped.
type badLine struct {
	number int
	reason error
}

func (b *badLine) Error() string { return fmt.Sprintf("line %d: %v", b.number, b.reason) }

// records reads a file line by line. For an invalid line it yields a *badLine and
// continues; any other error ends it. A field can be quoted, but it cannot contain a line
// break, so that a missing quote affects only one line.
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

// readLine reads a line including its end. It truncates a line that is too long to a length
// above maxLine, so that a file without line breaks does not fill the memory.
func readLine(r *bufio.Reader) (string, error) {
	const limit = maxLine + len("x\r\n")
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part[:min(len(part), limit-len(line))]...)
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
		return record{}, errors.New("time does not have the form 2026-01-05T08:00:00Z")
	}
	if y := when.UTC().Year(); y < firstYear || y > lastYear {
		return record{}, fmt.Errorf("time is not in the years %d to %d", firstYear, lastYear)
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
