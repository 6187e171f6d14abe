package access

import (
	"context"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
)

const month = 30 * 24 * time.Hour

func sign(table *aztables.Client, file *blob.Client, now time.Time) {
	table.GetTableSASURL(aztables.SASPermissions{Read: true, Add: true, Update: true, Delete: true}, now, now.Add(time.Hour)) // want `the holder of this signature can read and also change.*access, security`
	var p sas.BlobPermissions
	p.Read = true
	p.Delete = true // want `the holder of this signature`
	file.GetSASURL(p, now.Add(time.Hour), nil)
	file.GetSASURL(sas.BlobPermissions{Read: true}, now.Add(month), nil)       // want `valid for more than a week`
	file.GetSASURL(sas.BlobPermissions{Read: true}, now.AddDate(1, 0, 0), nil) // want `valid for more than a week`
	file.GetSASURL(sas.BlobPermissions{Read: true}, now.Add(15*time.Minute), nil)
	file.GetSASURL(sas.BlobPermissions{Create: true, Write: true}, now.AddDate(0, 0, 1), nil)
	_ = sas.BlobSignatureValues{ExpiryTime: time.Now().UTC().Add(24 * 365 * time.Hour)} // want `valid for more than a week`
	_ = sas.BlobSignatureValues{ExpiryTime: now.UTC().AddDate(10, 0, 0)}                // want `valid for more than a week`
}

func open(ctx context.Context, service *azblob.Client) {
	service.CreateContainer(ctx, "scans", &azblob.CreateContainerOptions{Access: to.Ptr(container.PublicAccessTypeBlob)}) // want `everyone can read this container`
	service.CreateContainer(ctx, "plans", nil)
}

func insecure(local bool) (options aztables.ClientOptions) {
	if local {
		options.InsecureAllowCredentialWithHTTP = true
	}
	return options
}

var plain = azblob.ClientOptions{ClientOptions: policy.ClientOptions{InsecureAllowCredentialWithHTTP: true}} // want `the credential is sent without encryption`

func kind(public bool) (options azblob.CreateContainerOptions) {
	if public {
		options.Access = to.Ptr(container.PublicAccessTypeBlob)
	}
	return options
}

func connect(file *blob.Client) {
	text := os.Getenv("CONNECTION")
	slog.Info("connecting", "to", text) // want `the key or signature gets into the log`
	aztables.NewServiceClientFromConnectionString(text, nil)
	address, err := file.GetSASURL(sas.BlobPermissions{Read: true}, time.Now().Add(time.Hour), nil)
	if err != nil {
		log.Print(err)
	}
	log.Print(address) // want `the key or signature gets into the log`
}

func early(now time.Time) []sas.BlobSignatureValues {
	return []sas.BlobSignatureValues{
		{StartTime: time.Now().UTC()}, // want `a service whose clock is behind refuses this signature`
		{StartTime: time.Now().UTC().Add(-10 * time.Minute)},
		{StartTime: now},
	}
}
