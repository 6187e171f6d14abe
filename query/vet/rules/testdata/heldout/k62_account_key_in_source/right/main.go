package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const account = "contosoreports"

func client() (*aztables.ServiceClient, error) {
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	return aztables.NewServiceClient("https://"+account+".table.core.windows.net", cred, nil)
}

func run(ctx context.Context) error {
	svc, err := client()
	if err != nil {
		return err
	}
	pager := svc.NewListTablesPager(nil)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("listing tables: %w", err)
		}
		for _, t := range page.Tables {
			if t.Name != nil {
				fmt.Fprintln(os.Stdout, *t.Name)
			}
		}
	}
	return nil
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}
