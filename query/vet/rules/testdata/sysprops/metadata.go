package sysprops

import "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"

func owner(p blob.GetPropertiesResponse) (*string, *string) {
	return p.Metadata["owner"], p.Metadata["Owner"] // want `so owner is read as Owner`
}
