package sasrange

import "github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

func sign(key *aztables.SharedKeyCredential, tenant string) {
	aztables.SASSignatureValues{TableName: "t", StartPartitionKey: tenant, EndPartitionKey: tenant}.Sign(key) // want `leaves it out of the address.*sasrange, error`
	aztables.SASSignatureValues{TableName: "t"}.Sign(key)
	aztables.SASSignatureValues{TableName: "t", StartRowKey: ""}.Sign(key)
}

func assigned(tenant string) (values aztables.SASSignatureValues) {
	values.TableName = "t"
	values.StartPartitionKey = tenant // want `leaves it out of the address`
	return values
}
