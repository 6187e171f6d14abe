package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const (
	account = "contosoreports"
	key     = "bm90IGEgcmVhbCBrZXksIG9ubHkgYW4gZXhhbXBsZSBmb3IgYSBjaGVja2VyLiBub3QgYSByZWFsIGtleSEhIQ==" // MISTAKE: The account key stands in the source code, so everybody with access to the repository owns the account.
)

func client() (*aztables.ServiceClient, error) {
	cred, err := aztables.NewSharedKeyCredential(account, key)
	if err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	return aztables.NewServiceClientWithSharedKey("https://"+account+".table.core.windows.net", cred, nil)
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
