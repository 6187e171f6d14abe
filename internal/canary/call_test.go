package canary_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/view"
)

// function is an exported function, or one instance of it.
type function struct {
	name string // as in "patterns.NewTable"
	call any
}

// caller calls functions with each canary that fits a parameter.
type caller struct {
	t              *testing.T
	e              *env
	exported       map[string]bool // the functions that return errors
	called, failed map[string]bool
	values         map[reflect.Type][]reflect.Value
	healthy        bool // call with all values, and also the functions that send no request
}

var (
	errorType   = reflect.TypeFor[error]()
	contextType = reflect.TypeFor[context.Context]()
	personType  = reflect.TypeFor[*person]()
)

// callAll calls what has to be called in a certain state, the methods of the receivers, those that delete after all
// others, and the functions.
func (c *caller) callAll() {
	c.values = canaries(c.e)
	written := map[string]bool{}
	for _, w := range slices.Concat(early, late) {
		written[w.name] = true
	}
	c.callInState(early)
	all := receivers(c.e)
	for _, deletes := range []bool{false, true} {
		for _, receiver := range all {
			v := reflect.ValueOf(receiver)
			for i := range v.NumMethod() {
				method := v.Type().Method(i).Name
				if name := typeText(v.Type()) + "." + method; c.exported[name] && !written[name] && deletes == strings.HasPrefix(method, "Delete") {
					c.call(name, v.Method(i))
				}
			}
		}
	}
	c.callInState(late)
	for _, f := range functions {
		c.call(f.name, reflect.ValueOf(f.call))
	}
}

// callInState makes calls, and searches their results.
func (c *caller) callInState(calls []call) {
	for _, w := range calls {
		c.called[w.name] = true
		for _, result := range w.run(c.e) {
			if text, ok := result.(string); ok {
				search(c.t, w.name, text)
			}
			c.output(w.name, result)
		}
	}
}

// typeText returns the name of a type without its package's path and its type arguments.
func typeText(t reflect.Type) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(t.String(), "*"), "[")
	return name
}

// call calls f with the first value of each parameter, and with each further value of one parameter.
func (c *caller) call(name string, f reflect.Value) {
	t := f.Type()
	sends := t.NumIn() > 0 && t.In(0) == contextType
	if !sends && !c.healthy && c.called[name] {
		return
	}
	c.called[name] = true
	choices, first := make([][]reflect.Value, t.NumIn()), make([]reflect.Value, t.NumIn())
	for i := range choices {
		if choices[i] = c.choices(name, t.In(i), sends); slices.Contains(names[name], i) {
			choices[i] = someNames()
		}
		first[i] = choices[i][0]
	}
	c.once(name, f, first)
	for i := range choices {
		for _, v := range choices[i][1:] {
			args := append([]reflect.Value(nil), first...)
			args[i] = v
			c.once(name, f, args)
		}
	}
}

// choices returns the values for a parameter: the canaries of its type, a function that succeeds and one that fails,
// or the zero value of options, a flag and a list.
func (c *caller) choices(name string, t reflect.Type, sends bool) []reflect.Value {
	if found := c.values[t]; found != nil {
		if t.Kind() == reflect.Pointer && t != personType && !sends {
			return append(found[:len(found):len(found)], reflect.Zero(t)) // a constructor checks its clients
		}
		if sends && (t.Kind() == reflect.String || !c.healthy) {
			found = found[:min(len(found), 5)]
		}
		return found
	}
	switch {
	case t.Kind() == reflect.Func:
		found := []reflect.Value{fake(t, digits, nil), fake(t, "\xff", nil), fake(t, "", errors.New("the program refuses"))}
		if !sends {
			found = append(found, reflect.Zero(t)) // a constructor checks its functions
		}
		return found
	case t.Kind() == reflect.Pointer && strings.Contains(typeText(t), "Options"), t.Kind() == reflect.Bool, t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		return []reflect.Value{reflect.Zero(t)}
	}
	c.t.Fatalf("%s: no value of type %v", name, t)
	return nil
}

// fake returns a function that appends more to the names of the persons it is called with, and returns err or zero values.
func fake(t reflect.Type, more string, err error) reflect.Value {
	return reflect.MakeFunc(t, func(args []reflect.Value) (results []reflect.Value) {
		for _, arg := range args {
			if p, ok := arg.Interface().(*person); ok && p != nil {
				p.Name += more
			}
		}
		for i := range t.NumOut() {
			result := reflect.New(t.Out(i)).Elem()
			if t.Out(i) == errorType && err != nil {
				result.Set(reflect.ValueOf(err))
			}
			results = append(results, result)
		}
		return results
	})
}

// once makes one call, and searches what it returns.
func (c *caller) once(name string, f reflect.Value, args []reflect.Value) {
	call := f.Call
	if f.Type().IsVariadic() {
		call = f.CallSlice
	}
	for _, result := range call(args) {
		if isSequence(result.Type()) {
			for _, err := range result.Seq2() {
				if !err.IsNil() {
					c.output(name, err.Interface())
					break
				}
			}
			continue
		}
		c.output(name, result.Interface())
	}
	for _, found := range c.e.taken() {
		c.output(name, found)
	}
}

// isSequence reports whether t is a sequence with errors.
func isSequence(t reflect.Type) bool {
	return t.Kind() == reflect.Func && t.CanSeq2() && t.In(0).In(1) == errorType
}

// output searches an error, or a report and the errors in it. A failure in a report has the key in a field of its own,
// for the program; entities and messages contain the values themselves.
func (c *caller) output(name string, result any) {
	if err, ok := result.(error); ok && err != nil {
		c.failed[name] = true
		inspect(c.t, name, err)
		return
	}
	if declared, ok := result.(interface{ Engine() (*view.View, error) }); ok {
		_, err := declared.Engine()
		c.output(name, err)
		return
	}
	v := reflect.Indirect(reflect.ValueOf(result))
	if !v.IsValid() {
		return
	}
	if v.Kind() == reflect.Struct {
		if failures := v.FieldByName("Failures"); failures.IsValid() && failures.Kind() == reflect.Slice {
			for i := range failures.Len() {
				c.output(name, failures.Index(i).FieldByName("Err").Interface())
			}
			return
		}
	}
	if printed[typeText(v.Type())] {
		inspect(c.t, name, result)
	}
}

// printed are the results that programs print: they have no keys and values.
var printed = map[string]bool{
	"eventual.Event": true, "heat.Snapshot": true, "highvolumedelete.DropReport": true,
	"patterns.Progress": true, "patterns.Explanation": true,
	"patterns.ViewState": true, "[]patterns.ViewState": true, "patterns.SweepReport": true,
}
