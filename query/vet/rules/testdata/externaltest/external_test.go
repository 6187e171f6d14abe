// Package externaltest_test imports aztables, which the package that it tests does not.
package externaltest_test

import "github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

var _ aztables.Client
