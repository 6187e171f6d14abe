package azerr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"testing"
)

func TestAnErrorOfAnUnknownTypeIsDescribedByItsType(t *testing.T) {
	var n struct{ N int }
	_, number := strconv.Atoi("secret")
	for want, err := range map[string]error{
		"error of type *errors.errorString": errors.New("secret"),
		"not found":                         fmt.Errorf("secret: %w", ErrNotFound),
		"Atoi: invalid syntax":              number,
		"context canceled: error of type *errors.errorString":     errors.Join(context.Canceled, errors.New("secret")),
		`JSON: offset 13: no int in field "N"`:                    json.Unmarshal([]byte(`{"N":"secret"}`), &n),
		"get: not found":                                          Errorf("get: %w", ErrNotFound),
		"get: outcome unknown: error of type *errors.errorString": &Error{Op: "get", Kind: ErrOutcomeUnknown, Err: errors.New("secret")},
	} {
		sealed := Seal(err)
		if got := sealed.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if !errors.Is(sealed, err) {
			t.Errorf("%v does not match what it describes", sealed)
		}
	}
	if Seal(nil) != nil || Seal(ErrNotFound) != ErrNotFound {
		t.Error("an error that needs no other text was changed")
	}
	if got := fmt.Sprintf("%+v", Seal(errors.New("secret"))); got != "secret" {
		t.Errorf("%%+v prints %q", got)
	}
}
