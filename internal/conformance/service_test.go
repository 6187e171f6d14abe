package conformance

import (
	"testing"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

var scripts = map[service]script{
	tables: {
		service: tables,
		open:    step{"POST /Tables", `{"TableName":"{T}"}`, "", "201"},
		close:   step{"DELETE /Tables('{T}')", "", "", "204"},
	},
	queues: {
		service: queues,
		open:    step{"PUT /{Q}", "", "", "201"},
		close:   step{"DELETE /{Q}", "", "", "204"},
	},
	blobs: {
		service: blobs,
		open:    step{"PUT /{C}?restype=container", "", "", "201"},
		close:   step{"DELETE /{C}?restype=container", "", "", "202"},
	},
}

func TestTableService(t *testing.T) { scripts[tables].onBoth(t) }

func TestQueueService(t *testing.T) { scripts[queues].onBoth(t) }

func TestBlobService(t *testing.T) { scripts[blobs].onBoth(t) }

// The conversations that a live account can have need nothing but the roles for data.
func TestTheConversationsOfALiveAccountNeedATokenOnly(t *testing.T) {
	acct := storagetest.New(t)
	l := harness.ServeLive(t, acct, acct.Credential(storagetest.TableContributor, storagetest.QueueContributor, storagetest.BlobContributor))
	for _, s := range []service{tables, queues, blobs} {
		t.Run(string(s), func(t *testing.T) { scripts[s].onLive(t, l) })
	}
}
