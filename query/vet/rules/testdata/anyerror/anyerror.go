package anyerror

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
)

var (
	errNotFound = errors.New("not found")
	errExists   = errors.New("exists")
)

type users struct{ table *aztables.Client }

func (u *users) get(ctx context.Context, id string) ([]byte, error) {
	reply, err := u.table.GetEntity(ctx, "users", id, nil)
	if err != nil { // want `every error is taken as a missing row.*anyerror, error`
		return nil, errNotFound
	}
	return reply.Value, nil
}

func (u *users) lookup(ctx context.Context, id string) ([]byte, bool) {
	reply, err := u.table.GetEntity(ctx, "users", id, nil)
	if err != nil { // want `every error is taken as a missing row`
		return nil, false
	}
	return reply.Value, true
}

func (u *users) exists(ctx context.Context, id string) bool {
	_, err := u.table.GetEntity(ctx, "users", id, nil)
	return err == nil // want `every error is taken as a missing row`
}

func (u *users) ensure(ctx context.Context, id string, body []byte) error {
	if _, err := u.table.GetEntity(ctx, "users", id, nil); err != nil { // want `every error is taken as a missing row`
		_, err = u.table.AddEntity(ctx, body, nil)
		return err
	}
	return nil
}

func (u *users) add(ctx context.Context, body []byte) error {
	_, err := u.table.AddEntity(ctx, body, nil)
	if err != nil { // want `every error is taken as a row that exists`
		return errExists
	}
	return nil
}

func (u *users) read(ctx context.Context, id string) ([]byte, error) {
	reply, err := u.table.GetEntity(ctx, "users", id, nil)
	if err != nil {
		return nil, fmt.Errorf("read a user: %w", err)
	}
	return reply.Value, nil
}

func (u *users) wrapped(ctx context.Context, id string) ([]byte, error) {
	reply, err := u.table.GetEntity(ctx, "users", id, nil)
	if err != nil {
		err = fmt.Errorf("read a user: %w", err)
		if isMissing(err) {
			err = errNotFound
		}
		return nil, err
	}
	return reply.Value, nil
}

func isMissing(err error) bool {
	var status *azcore.ResponseError
	return errors.As(err, &status) && status.StatusCode == http.StatusNotFound
}

func (u *users) find(ctx context.Context, id string) ([]byte, error) {
	reply, err := u.table.GetEntity(ctx, "users", id, nil)
	var status *azcore.ResponseError
	if errors.As(err, &status) && status.StatusCode == http.StatusNotFound {
		return nil, errNotFound
	}
	if err != nil {
		return nil, err
	}
	return reply.Value, nil
}

func (u *users) handle(w http.ResponseWriter, r *http.Request) {
	body, err := u.read(r.Context(), r.PathValue("id"))
	if err != nil { // want `every error is taken as a missing row`
		http.Error(w, "no such user", http.StatusNotFound)
		return
	}
	w.Write(body)
}

func (u *users) handleAny(w http.ResponseWriter, r *http.Request) {
	body, err := u.read(r.Context(), r.PathValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Write(body)
}

func present(ctx context.Context, blobs *azblob.Client, name string) bool {
	_, err := blobs.DownloadStream(ctx, "container", name, nil)
	return err == nil // want `every error is taken as a missing row`
}
