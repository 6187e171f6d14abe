package accountkey

import (
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

const connection = "DefaultEndpointsProtocol=https;AccountName=example;AccountKey=bm90IGEga2V5LCBidXQgbG9uZyBlbm91Z2g=;EndpointSuffix=core.windows.net" // want `the key of the account is in the program.*accountkey, security`

const local = "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"

func clients() {
	aztables.NewServiceClientFromConnectionString(connection, nil)
	aztables.NewServiceClientFromConnectionString(local, nil)
	aztables.NewSharedKeyCredential("example", "bm90IGEga2V5LCBidXQgbG9uZyBlbm91Z2g=") // want `the key of the account is in the program`
	azblob.NewSharedKeyCredential("example", "bm90IGEga2V5LCBidXQgbG9uZyBlbm91Z2g=")   // want `the key of the account is in the program`
	azqueue.NewSharedKeyCredential("example", os.Getenv("KEY"))
	aztables.NewServiceClientFromConnectionString("AccountName=example;AccountKey=<your key>", nil)
}

var storageKey = "bm90IGEga2V5LCBidXQgbG9uZyBlbm91Z2g="

func variable() (*aztables.SharedKeyCredential, error) {
	return aztables.NewSharedKeyCredential("example", storageKey) // want `the key of the account is in the program`
}
