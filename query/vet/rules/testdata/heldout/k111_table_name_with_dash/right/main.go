package schema

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const (
	UserProfiles = "userProfiles"
	UserSessions = "userSessions"
)

// Creator is the part of the service client that is needed here.
type Creator interface {
	CreateTable(ctx context.Context, name string, options *aztables.CreateTableOptions) (aztables.CreateTableResponse, error)
}

var _ Creator = (*aztables.ServiceClient)(nil)

// Apply creates the tables that do not exist yet.
func Apply(ctx context.Context, svc Creator) error {
	for _, name := range []string{UserProfiles, UserSessions} {
		_, err := svc.CreateTable(ctx, name, nil)
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.ErrorCode == string(aztables.TableAlreadyExists) {
			continue
		}
		if err != nil {
			return fmt.Errorf("creating %s: %w", name, err)
		}
	}
	return nil
}
