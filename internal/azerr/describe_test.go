package azerr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/azpatterns/azpatterns/internal/assert"
)

func TestAnErrorOfAnUnknownTypeIsDescribedByItsType(t *testing.T) {
	var n struct{ N int }
	_, number := strconv.Atoi("secret")
	for want, err := range map[string]error{
		"error of type *errors.errorString": errors.New("secret"),
		"not found":                         fmt.Errorf("secret: %w", ErrNotFound),
		"Atoi: invalid syntax":              number,
		"context canceled: error of type *errors.errorString": errors.Join(context.Canceled, errors.New("secret")),
		`JSON: offset 13: no int in field "N"`:                json.Unmarshal([]byte(`{"N":"secret"}`), &n),
		"get: not found":                                      Errorf("get: %w", ErrNotFound),
	} {
		sealed := Seal(err)
		assert.Equal(t, sealed.Error(), want)
		assert.WantError(t, sealed, err, "does not match what it describes")
	}
	assert.Equal(assert.Now(t), Seal(nil), nil)
	assert.Equal(t, Seal(ErrNotFound), ErrNotFound)
	if got := fmt.Sprintf("%+v", Seal(errors.New("secret"))); got != "secret" {
		t.Errorf("%%+v prints %q", got)
	}
}

// The type is found by its name, which another version of the SDK may change.
func TestAReplyIsDescribedByItsStatusAndItsCode(t *testing.T) {
	reply := &azcore.ResponseError{StatusCode: 404, ErrorCode: "ResourceNotFound", RawResponse: &http.Response{Body: http.NoBody}}
	assert.Equal(t, Describe(fmt.Errorf("secret: %w", reply)), "404 ResourceNotFound")
	assert.Equal(t, Describe((*azcore.ResponseError)(nil)), "error of type *exported.ResponseError", "a nil pointer")
}
