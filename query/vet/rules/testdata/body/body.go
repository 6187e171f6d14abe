package body

import (
	"context"
	"encoding/json"
	"io"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
)

func decode(ctx context.Context, file *blob.Client, into any) error {
	reply, err := file.DownloadStream(ctx, nil) // want `the body is not closed.*body, warning`
	if err != nil {
		return err
	}
	return json.NewDecoder(reply.Body).Decode(into)
}

func decodeAll(ctx context.Context, file *blob.Client, into any) error {
	reply, err := file.DownloadStream(ctx, nil)
	if err != nil {
		return err
	}
	body := reply.NewRetryReader(ctx, nil)
	defer body.Close()
	return json.NewDecoder(body).Decode(into)
}

func open(ctx context.Context, file *blob.Client) (io.ReadCloser, error) {
	reply, err := file.DownloadStream(ctx, nil)
	if err != nil {
		return nil, err
	}
	return reply.Body, nil
}

func reopen(ctx context.Context, file *blob.Client) (io.ReadCloser, error) {
	reply, err := file.DownloadStream(ctx, nil)
	if err != nil {
		return nil, err
	}
	return reply.NewRetryReader(ctx, nil), nil
}

type download struct{ body io.ReadCloser }

func begin(ctx context.Context, file *blob.Client) (*download, error) {
	reply, err := file.DownloadStream(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &download{body: reply.Body}, nil
}

func upload(ctx context.Context, file *blockblob.Client, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, err = file.UploadBuffer(ctx, data, nil) // want `the whole file is held in memory`
	return err
}
