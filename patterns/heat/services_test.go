package heat_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestQueuesAndBlobsAreCounted(t *testing.T) {
	ctx := t.Context()
	account := storagetest.New(t)
	m := newMeter(t, nil)
	opts := azcore.ClientOptions{Transport: account.Transport()}
	m.Attach(&opts)
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}

	blobs, err := azblob.NewClientFromConnectionString(account.ConnectionString(), &azblob.ClientOptions{ClientOptions: opts})
	must(err)
	_, err = blobs.CreateContainer(ctx, "photos", nil)
	must(err)
	content := bytes.Repeat([]byte("photo"), 50_000)
	_, err = blobs.UploadBuffer(ctx, "photos", "2026/01.jpg", content, nil)
	must(err)
	stream, err := blobs.DownloadStream(ctx, "photos", "2026/01.jpg", nil)
	must(err)
	if got, err := io.ReadAll(stream.Body); err != nil || !bytes.Equal(got, content) {
		t.Errorf("downloaded %d bytes, %v", len(got), err)
	}

	jobs, err := azqueue.NewQueueClientFromConnectionString(account.ConnectionString(), "jobs", &azqueue.ClientOptions{ClientOptions: opts})
	must(err)
	_, err = jobs.Create(ctx, nil)
	must(err)
	for range 3 {
		_, err = jobs.EnqueueMessage(ctx, "hello", nil)
		must(err)
	}
	number := int32(32)
	received, err := jobs.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: &number})
	must(err)
	assert.Equal(t, len(received.Messages), 3, "messages")
	_, err = jobs.DequeueMessage(ctx, nil)
	must(err)

	s := m.Snapshot()
	if c := s.Resources["bphotos"]; c.Transactions != 3 {
		t.Errorf("photos: %v", c)
	}
	if c := s.Resources["qjobs"]; c.Transactions != 6 || c.Polls != 2 || c.EmptyPolls != 1 {
		t.Errorf("jobs: %v", c)
	}
	if read, written := total(s, 0, entitiesRead), total(s, 0, entitiesWritten); read != 1+3 || written != 1+3 {
		t.Errorf("%v read, %v written", read, written)
	}
}
