package newsletter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type List struct{ subs *aztables.Client }

func norm(mail string) string { return strings.ToLower(strings.TrimSpace(mail)) }

func (l *List) Subscribe(ctx context.Context, topic, mail string) error {
	b, err := json.Marshal(map[string]string{
		"PartitionKey": topic,
		"RowKey":       url.QueryEscape(norm(mail)),
		"Mail":         mail,
	})
	if err != nil {
		return err
	}
	_, err = l.subs.UpsertEntity(ctx, b, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}

// Unsubscribe removes an address; an unknown address is no error.
func (l *List) Unsubscribe(ctx context.Context, topic, mail string) error {
	_, err := l.subs.DeleteEntity(ctx, topic, url.QueryEscape(mail), nil) // MISTAKE: keys are case-sensitive, Don@x.org is stored as don@x.org and is not found
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return fmt.Errorf("unsubscribe: %w", err)
	}
	return nil
}
