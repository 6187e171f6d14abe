package tokens

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/sas"
)

// ForProducer makes an address with which a partner can add messages for one day.
func ForProducer(svc *azqueue.ServiceClient, queue string) (string, error) {
	q := svc.NewQueueClient(queue)
	now := time.Now().UTC()
	perms := sas.QueuePermissions{Add: true, Read: true, Process: true, Update: true} // MISTAKE: a producer needs Add only, this token can take and delete the messages of others
	link, err := q.GetSASURL(perms, now.Add(24*time.Hour), &azqueue.GetSASURLOptions{
		StartTime: to.Ptr(now.Add(-10 * time.Minute)),
	})
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return link, nil
}

// Handler answers with an address for the partner that asks.
func Handler(svc *azqueue.ServiceClient, partner func(*http.Request) (string, bool)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name, ok := partner(r)
		if !ok {
			http.Error(w, "who are you", http.StatusForbidden)
			return
		}
		link, err := ForProducer(svc, "in-"+name)
		if err != nil {
			http.Error(w, "no token", http.StatusInternalServerError)
			return
		}
		if _, err := io.WriteString(w, link); err != nil {
			return
		}
	}
}
