package background

import (
	"context"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type server struct{ table *aztables.Client }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reply, err := s.table.GetEntity(context.Background(), "p", "r", nil) // want `this request goes on after the caller has left.*background, warning`
	if err != nil {
		http.Error(w, "storage", http.StatusBadGateway)
		return
	}
	w.Write(reply.Value)
}

func (s *server) get(_ context.Context, id string) ([]byte, error) {
	reply, err := s.table.GetEntity(context.TODO(), "p", id, nil)
	return reply.Value, err
}

func (s *server) read(ctx context.Context, id string) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	limited, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	reply, err := s.table.GetEntity(limited, "p", id, nil) // want `this request goes on after the caller has left`
	return reply.Value, err
}

func (s *server) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, err := s.table.DeleteEntity(ctx, "p", id, nil)
	return err
}

func (s *server) abort(ctx context.Context, id string) error {
	select {
	case <-ctx.Done():
		_, err := s.table.DeleteEntity(context.Background(), "p", id, nil)
		return err
	case <-time.After(time.Second):
		return nil
	}
}

func main() {
	s := &server{}
	s.table.GetEntity(context.Background(), "p", "r", nil)
}
