package errortext

import (
	"context"
	"errors"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func classify(ctx context.Context, table *aztables.Client) (string, error) {
	_, err := table.GetEntity(ctx, "p", "r", nil)
	if err == nil {
		return "", nil
	}
	if strings.Contains(err.Error(), "ResourceNotFound") { // want `an error is recognised by its text.*errortext, warning`
		return "missing", nil
	}
	if strings.Contains(strings.ToLower(err.Error()), "already exists") { // want `an error is recognised by its text`
		return "exists", nil
	}
	if err.Error() == "unexpected EOF" { // want `an error is recognised by its text`
		return "fine", nil
	}
	var status *azcore.ResponseError
	if errors.As(err, &status) && strings.Contains(status.ErrorCode, "NotFound") {
		return "missing", nil
	}
	if strings.Contains(err.Error(), "colour") {
		return "own", nil
	}
	return "", err
}
