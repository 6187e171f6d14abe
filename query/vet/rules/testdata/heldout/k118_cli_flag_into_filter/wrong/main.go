package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type asset struct {
	PartitionKey string
	RowKey       string
	Owner        string
}

func find(ctx context.Context, table *aztables.Client, site string) error {
	filter := fmt.Sprintf("PartitionKey eq '%s'", site) // MISTAKE: The value of a command line flag is put into the filter as it is, so an apostrophe changes or breaks the query.
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("listing assets: %w", err)
		}
		for _, raw := range page.Entities {
			var a asset
			if err := json.Unmarshal(raw, &a); err != nil {
				return fmt.Errorf("decoding asset: %w", err)
			}
			fmt.Printf("%s\t%s\n", a.RowKey, a.Owner)
		}
	}
	return nil
}

func main() {
	site := flag.String("site", "", "name of the site")
	flag.Parse()
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		log.Fatal(err)
	}
	svc, err := aztables.NewServiceClient(os.Getenv("TABLES_ENDPOINT"), cred, nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := find(ctx, svc.NewClient("assets"), *site); err != nil {
		log.Fatal(err)
	}
}
