package assert

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
)

// recorder is a test that continues after a failure.
type recorder struct{ text string }

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.text = "error: " + fmt.Sprintf(format, args...)
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.text = "fatal: " + fmt.Sprintf(format, args...)
}

func pairs(errs ...error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i, err := range errs {
			if !yield(i, err) {
				return
			}
		}
	}
}

func TestEveryCheckFailsAndPasses(t *testing.T) {
	r := new(recorder)
	wrapped := fmt.Errorf("wrapped: %w", io.EOF)
	for want, check := range map[string]func(bool){
		"error: case 7: got 1, want 2":          func(ok bool) { Equal(r, 1, pick(ok, 1, 2), "case", 7) },
		`error: got "a", want "b"`:              func(ok bool) { Equal(r, "a", pick(ok, "a", "b")) },
		"fatal: got 1, want 2":                  func(ok bool) { Equal(Now(r), 1, pick(ok, 1, 2)) },
		"error: got [], want []":                func(ok bool) { DeepEqual(r, []int{}, pick(ok, []int{}, nil)) },
		"error: got [1 2], want [2 1]":          func(ok bool) { EqualSlices(r, []int{1, 2}, pick(ok, []int{1, 2}, []int{2, 1})) },
		"error: got map[a:1], want map[a:2]":    func(ok bool) { EqualMaps(r, map[string]int{"a": 1}, map[string]int{"a": pick(ok, 1, 2)}) },
		`error: "abc" does not contain "d"`:     func(ok bool) { Contains(r, "abc", pick(ok, "b", "d")) },
		"fatal: the case: EOF":                  func(ok bool) { NoError(r, pick(ok, nil, io.EOF), "the case") },
		"fatal: EOF":                            func(ok bool) { Must(3, pick(ok, nil, io.EOF))(r) },
		"error: no error":                       func(ok bool) { Failed(r, pick(ok, io.EOF, nil)) },
		"error: got EOF, want wrapped: EOF":     func(ok bool) { WantError(r, pick(ok, wrapped, io.EOF), pick(ok, io.EOF, wrapped)) },
		`error: the message "EOF" contains "O"`: func(ok bool) { WantHidden(r, io.EOF, pick(ok, "X", "O")) },
		"fatal: in a sequence":                  func(ok bool) { All(r, pairs(nil, pick(ok, nil, errors.New("in a sequence")))) },
		"fatal: no error":                       func(ok bool) { Failure(r, pairs(nil, pick(ok, io.EOF, nil))) },
		"fatal: the sequence continues":         func(ok bool) { Failure(r, pairs(io.EOF, pick(ok, nil, io.EOF))) },
	} {
		for _, ok := range []bool{true, false} {
			r.text = ""
			if strings.Contains(want, "continues") && ok {
				continue
			}
			if check(ok); (r.text == "") != ok || !ok && !strings.HasPrefix(r.text, want) {
				t.Errorf("passes %v: %q, want %q", ok, r.text, want)
			}
		}
	}
}

func pick[V any](first bool, a, b V) V {
	if first {
		return a
	}
	return b
}
