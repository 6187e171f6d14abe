package clientpercall

import (
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/query/vet/rules/testdata/clientpercall/echo/v4"
)

func get(c echo.Context) error {
	_, err := azqueue.NewQueueClientFromConnectionString("connection", c.Param("queue"), nil) // want `this creates a client for each request`
	return err
}

func factory(connection string) func(name string) (*azqueue.QueueClient, error) {
	return func(name string) (*azqueue.QueueClient, error) {
		return azqueue.NewQueueClientFromConnectionString(connection, name, nil) // want `this creates a client for each request`
	}
}
