package storagetest

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/auth"
)

// Role is a built-in role of Azure that permits operations on the data of a storage account.
type Role string

// The roles. None of them permits the properties of a service, or the access policies of a table or a queue. Only BlobOwner permits
// the tags of blobs and the access policies of containers.
const (
	TableReader      Role = "Storage Table Data Reader"
	TableContributor Role = "Storage Table Data Contributor"
	QueueReader      Role = "Storage Queue Data Reader"
	QueueContributor Role = "Storage Queue Data Contributor"
	QueueProcessor   Role = "Storage Queue Data Message Processor" // receives, peeks and deletes messages; extending one needs QueueContributor
	QueueSender      Role = "Storage Queue Data Message Sender"    // adds messages
	BlobReader       Role = "Storage Blob Data Reader"
	BlobContributor  Role = "Storage Blob Data Contributor"
	BlobOwner        Role = "Storage Blob Data Owner"
)

// Credential returns the credential of a principal that has these roles for the whole account. What they do not permit is refused
// with 403 AuthorizationPermissionMismatch, as in the service; without a role everything is. Use it with a client that sends through
// the [Account.Transport]. An unknown role fails the test of an account of [New], otherwise it permits nothing.
//
//	cred := acct.Credential(storagetest.TableReader)
//	client, err := aztables.NewServiceClient(storagetest.TablesURL, cred, &opts)
func (a *Account) Credential(roles ...Role) azcore.TokenCredential {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
		if a.t != nil && !auth.IsRole(names[i]) {
			a.t.Helper()
			a.t.Errorf("storagetest: there is no role %q", r)
		}
	}
	return tokenOf(auth.TokenOf(names))
}

// tokenOf is a credential with one token, which does not expire.
type tokenOf string

func (t tokenOf) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(t), ExpiresOn: time.Now().Add(24 * time.Hour)}, nil
}
