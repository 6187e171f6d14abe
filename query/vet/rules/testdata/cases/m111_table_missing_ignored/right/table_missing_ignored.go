package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Tables struct {
	Users, Posts *aztables.Client
}

func ensure(ctx context.Context, svc *aztables.ServiceClient, name string) (*aztables.Client, error) {
	_, err := svc.CreateTable(ctx, name, nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.ErrorCode == string(aztables.TableAlreadyExists) {
		log.Printf("table %s exists already", name)
	} else if err != nil {
		return nil, fmt.Errorf("create table %s: %w", name, err)
	}
	return svc.NewClient(name), nil
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
