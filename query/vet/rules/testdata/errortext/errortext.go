package errortext

import (
	"errors"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func isMissing(err error) bool {
	return strings.Contains(err.Error(), "ResourceNotFound") || strings.Contains(err.Error(), "404") // want `an error is recognised by its text.*errortext, warning`
}

func exists(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "already exists") // want `an error is recognised by its text`
}

func done(err error) bool {
	return err == nil || err.Error() == "unexpected EOF" // want `an error is recognised by its text`
}

func isTyped(err error) bool {
	var status *azcore.ResponseError
	return errors.As(err, &status) && status.ErrorCode == string(aztables.ResourceNotFound)
}

func isOwn(err error) bool { return strings.Contains(err.Error(), "colour") }
