// Package user imports a package with errors.
package user

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/query/vet/rules/testdata/broken"
)

func save(ctx context.Context, table *aztables.Client, body []byte) {
	broken.Save(ctx, table, body)
	unknown := broken.Open()
	unknown.Close()
}
