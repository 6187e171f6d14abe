package types_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

type person struct{ PartitionKey, RowKey string }

// verboseErrors returns errors whose %+v contains the key "secret".
func verboseErrors(t *testing.T) map[string]error {
	service := storagetest.New(t).Tables()
	assert.NoError(t, assert.ErrorOf(service.CreateTable(t.Context(), "People", nil)))
	people := assert.Must(patterns.NewTable[person](service.NewClient("People"), nil))(t)
	_, missing := people.Get(t.Context(), keys.Key{Partition: "secret", Row: "1"})
	b := people.Batch()
	b.Delete(keys.Key{Partition: "secret", Row: "1"}, "*")
	_, batch := b.Commit(t.Context())
	var scan error
	for _, scan = range people.Query(t.Context(), query.Prop("RowKey").Eq("secret"), nil) {
	}
	return map[string]error{
		"get":       missing,
		"batch":     batch,
		"scan":      scan,
		"duplicate": &patterns.DuplicateError{View: "email", Key: keys.Key{Partition: "secret"}},
	}
}

func TestLogsContainNoKeys(t *testing.T) {
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	for what, err := range verboseErrors(t) {
		if err == nil || !strings.Contains(fmt.Sprintf("%+v", err), "secret") {
			t.Errorf("%s: %+v has no key, so this test proves nothing", what, err)
		}
		text.Reset()
		log.Info(what, "error", err)
		if got := text.String(); !strings.Contains(got, err.Error()[:5]) || strings.Contains(got, "secret") {
			t.Errorf("%s: logged %s", what, got)
		}
	}
}

func TestErrorsStayReachableInLogs(t *testing.T) {
	var got *patterns.DuplicateError
	log := slog.New(slog.NewTextHandler(new(bytes.Buffer), &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if err, ok := a.Value.Any().(error); ok {
				errors.As(err, &got)
			}
			return a
		},
	}))
	log.Info("refused", "error", &patterns.DuplicateError{View: "email"})
	if got == nil || got.View != "email" {
		t.Errorf("got %v", got)
	}
}
