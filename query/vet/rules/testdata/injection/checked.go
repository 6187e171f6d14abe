package injection

import (
	"errors"
	"regexp"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var (
	plain      = regexp.MustCompile(`^[a-z]+$`)
	errRefused = errors.New("refused")
)

func listOf(table *aztables.Client, name string) {
	filter := "PartitionKey eq '" + name + "'" // want `a quote in this value`
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
}

func matched(table *aztables.Client, name string) error {
	if !plain.MatchString(name) {
		return errRefused
	}
	filter := "PartitionKey eq '" + name + "'"
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	return nil
}

func matchedOnlySometimes(table *aztables.Client, name string, strict bool) error {
	if strict {
		if !plain.MatchString(name) {
			return errRefused
		}
	}
	filter := "PartitionKey eq '" + name + "'" // want `a quote in this value`
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	return nil
}

func refusedIfMatched(table *aztables.Client, name string) error {
	if plain.MatchString(name) {
		return errRefused
	}
	filter := "PartitionKey eq '" + name + "'" // want `a quote in this value`
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	return nil
}

func compared(table *aztables.Client, name string) error {
	if name != "a" && name != "b" {
		return errRefused
	}
	filter := "PartitionKey eq '" + name + "'"
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	return nil
}

func switched(table *aztables.Client, name string) error {
	switch name {
	case "a", "b":
	default:
		return errRefused
	}
	filter := "PartitionKey eq '" + name + "'"
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	return nil
}

func switchedWithoutDefault(table *aztables.Client, name string) {
	switch name {
	case "a":
		println(strings.ToUpper(name))
	}
	filter := "PartitionKey eq '" + name + "'" // want `a quote in this value`
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
}
