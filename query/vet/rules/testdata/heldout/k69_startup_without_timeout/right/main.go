package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"regexp"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var accountRE = regexp.MustCompile(`^[a-z0-9]{3,24}$`)

func check(ctx context.Context, account, table string) error {
	if !accountRE.MatchString(account) {
		return fmt.Errorf("bad account name %q", account)
	}
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return fmt.Errorf("credential: %w", err)
	}
	svc, err := aztables.NewServiceClient("https://"+account+".table.core.windows.net", cred, nil)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	if _, err := svc.NewClient(table).GetAccessPolicy(ctx, nil); err != nil {
		return fmt.Errorf("table %s: %w", table, err)
	}
	return nil
}

func main() {
	account := flag.String("account", "", "storage account")
	table := flag.String("table", "orders", "table to look for")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := check(ctx, *account, *table); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready")
}
