package auth

import (
	"net/http"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// refusal returns an error reply whose Detail is why. It may quote the string to sign,
// but must not contain a key.
func refusal(status int, code, message, why string) *reply.Error {
	e := reply.New(status, code, message)
	if why != "" {
		e.Detail = []string{"AuthenticationErrorDetail", why}
	}
	return e
}

// challenged adds the header that contains, for azcore's bearer policies, the address to
// get a token from. The tenant is a placeholder: no token is requested from it.
func challenged(e *reply.Error) *reply.Error {
	e.Header = http.Header{"Www-Authenticate": {"Bearer authorization_uri=https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/oauth2/authorize resource_id=https://storage.azure.com"}}
	return e
}

func unauthenticated(why string) *reply.Error {
	return refusal(http.StatusForbidden, "AuthenticationFailed",
		"Server failed to authenticate the request. Check the value of the Authorization header or of the shared access signature.", why)
}

const seeChallenge = "Server failed to authenticate the request. See the WWW-Authenticate header."

func anonymous() *reply.Error {
	return challenged(refusal(http.StatusUnauthorized, "NoAuthenticationInformation", seeChallenge, ""))
}

// BadToken returns the reply to a request whose bearer token is not valid.
func BadToken(why string) *reply.Error {
	return challenged(refusal(http.StatusUnauthorized, "InvalidAuthenticationInfo", seeChallenge, why))
}

func badHeader(why string) *reply.Error {
	return refusal(http.StatusBadRequest, "InvalidAuthenticationInfo",
		"The authentication information is not in the correct format. Check the value of the Authorization header.", why)
}

func forbidden(code, with string) *reply.Error {
	return refusal(http.StatusForbidden, code, "This request is not authorized to perform this operation"+with+".", "")
}

func wrongPermission() *reply.Error {
	return forbidden("AuthorizationPermissionMismatch", " using this permission")
}

// blobOverwrite returns the reply to a write to an existing blob with a SAS that permits
// only creating blobs.
// https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes
func blobOverwrite() *reply.Error {
	return refusal(http.StatusForbidden, "UnauthorizedBlobOverwrite", "This request is not authorized to perform blob overwrites.", "")
}

func wrongType() *reply.Error {
	return forbidden("AuthorizationResourceTypeMismatch", " using this resource type")
}

func wrongService() *reply.Error {
	return forbidden("AuthorizationServiceMismatch", " using this service")
}

func wrongProtocol() *reply.Error {
	return forbidden("AuthorizationProtocolMismatch", " using this protocol")
}

func wrongAddress(ip string) *reply.Error {
	return forbidden("AuthorizationSourceIPMismatch", " using this source IP "+ip)
}

func wrongResource() *reply.Error { return forbidden("AuthorizationFailure", "") }
