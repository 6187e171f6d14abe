package highvolumedelete

import (
	"fmt"
	"reflect"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// timeField gives the function that reads T's only field of type time.Time.
func timeField[T any]() (func(*T) time.Time, error) {
	t := reflect.TypeFor[T]()
	var found []reflect.StructField
	if t.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(t) {
			// A promoted field can stand behind a nil pointer; it is not looked for.
			if f.IsExported() && f.Type == reflect.TypeFor[time.Time]() && len(f.Index) == 1 {
				found = append(found, f)
			}
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%w: Time has to be set, since %v has %d fields of type time.Time and not one", ErrBadOption, t, len(found))
	}
	index := found[0].Index[0]
	return func(v *T) time.Time { return reflect.ValueOf(v).Elem().Field(index).Interface().(time.Time) }, nil
}

// periodOf is the beginning of v's period.
func (s *Tables[T]) periodOf(v *T) (time.Time, error) {
	if v == nil {
		return time.Time{}, fmt.Errorf("value: %w", patterns.ErrNil)
	}
	at := s.time(v)
	if at.IsZero() {
		return at, fmt.Errorf("%w: the event has no time, and so no table", patterns.ErrBadKey)
	}
	return s.names.period.in(at)
}
