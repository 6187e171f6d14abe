package govern_test

import (
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// hasStatus reports whether err is a reply with that status.
func hasStatus(err error, status int) bool {
	var reply *azcore.ResponseError
	return errors.As(err, &reply) && reply.StatusCode == status
}

func isNotFound(err error) bool { return hasStatus(err, http.StatusNotFound) }
