package bootstrap

import (
	"context"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Tables struct {
	Users, Posts *aztables.Client
}

func ensure(ctx context.Context, svc *aztables.ServiceClient, name string) (*aztables.Client, error) {
	if _, err := svc.CreateTable(ctx, name, nil); err != nil {
		log.Printf("table %s exists already", name) // MISTAKE: also a refused key or a wrong name ends here
	}
	return svc.NewClient(name), ctx.Err()
}

func Open(ctx context.Context, svc *aztables.ServiceClient) (*Tables, error) {
	users, err := ensure(ctx, svc, "users")
	if err != nil {
		return nil, err
	}
	posts, err := ensure(ctx, svc, "posts")
	if err != nil {
		return nil, err
	}
	return &Tables{Users: users, Posts: posts}, nil
}
