package auth

import "net/http"

// Refusal is the answer of the service to a request that it does not serve.
type Refusal struct {
	Status    int    // HTTP status
	Code      string // x-ms-error-code
	Message   string // for the error body
	Detail    string // why, for AuthenticationErrorDetail; may quote the string to sign, never a key
	Challenge string // value of WWW-Authenticate; "" = none
}

// Error names the code and the reason.
func (r *Refusal) Error() string {
	if r.Detail == "" {
		return r.Code + ": " + r.Message
	}
	return r.Code + ": " + r.Detail
}

// challenge is what lets azcore's bearer policies find out where to ask for a
// token; the tenant is a placeholder, as no token is ever fetched from it.
const challenge = `Bearer authorization_uri=https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/oauth2/authorize resource_id=https://storage.azure.com`

func unauthenticated(detail string) *Refusal {
	return &Refusal{
		Status:  http.StatusForbidden,
		Code:    "AuthenticationFailed",
		Message: "Server failed to authenticate the request. Check the value of the Authorization header or of the shared access signature.",
		Detail:  detail,
	}
}

func anonymous() *Refusal {
	return &Refusal{
		Status:    http.StatusUnauthorized,
		Code:      "NoAuthenticationInformation",
		Message:   "Server failed to authenticate the request. See the WWW-Authenticate header.",
		Challenge: challenge,
	}
}

func badToken(detail string) *Refusal {
	return &Refusal{
		Status:    http.StatusUnauthorized,
		Code:      "InvalidAuthenticationInfo",
		Message:   "Server failed to authenticate the request. See the WWW-Authenticate header.",
		Detail:    detail,
		Challenge: challenge,
	}
}

func badHeader(detail string) *Refusal {
	return &Refusal{
		Status:  http.StatusBadRequest,
		Code:    "InvalidAuthenticationInfo",
		Message: "The authentication information is not in the correct format. Check the value of the Authorization header.",
		Detail:  detail,
	}
}

func forbidden(code, with string) *Refusal {
	return &Refusal{
		Status:  http.StatusForbidden,
		Code:    code,
		Message: "This request is not authorized to perform this operation" + with + ".",
	}
}

func wrongPermission() *Refusal {
	return forbidden("AuthorizationPermissionMismatch", " using this permission")
}

// BlobOverwrite refuses to a SAS that may create blobs to write one that exists.
// https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes
func BlobOverwrite() *Refusal {
	return &Refusal{Status: http.StatusForbidden, Code: "UnauthorizedBlobOverwrite", Message: "This request is not authorized to perform blob overwrites."}
}

func wrongType() *Refusal {
	return forbidden("AuthorizationResourceTypeMismatch", " using this resource type")
}

func wrongService() *Refusal {
	return forbidden("AuthorizationServiceMismatch", " using this service")
}

func wrongProtocol() *Refusal {
	return forbidden("AuthorizationProtocolMismatch", " using this protocol")
}

func wrongAddress(ip string) *Refusal {
	return forbidden("AuthorizationSourceIPMismatch", " using this source IP "+ip)
}

func wrongResource() *Refusal { return forbidden("AuthorizationFailure", "") }
