package logdata

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"

	"github.com/azpatterns/azpatterns/patterns"
)

// Handler is a [slog.Handler] that writes to a [Writer]. The record's Type is the
// level, "ERROR" or "INFO+2", and its Attrs are the attributes as JSON, groups being
// objects: values are encoded as [slog.JSONHandler] does. A slog record without a time is
// one that arrived, see [Record.Arrived].
type Handler struct {
	writer *Writer
	o      HandlerOptions
	scopes []scope // of With and WithGroup, the outermost first
}

// HandlerOptions are the options of [NewHandler]. nil and the zero value mean the
// defaults.
type HandlerOptions struct {
	// Level is the least that is written, [slog.LevelInfo] by default.
	Level slog.Leveler

	// AddSource adds the attribute "source" with function, file and line of the call.
	AddSource bool
}

// scope is one With, or one WithGroup, whose name is set.
type scope struct {
	group string
	attrs []slog.Attr
}

// NewHandler makes a Handler. Several may share a Writer, which has to be closed when
// no more is logged.
func NewHandler(w *Writer, opts *HandlerOptions) (*Handler, error) {
	if w == nil {
		return nil, fmt.Errorf("new log handler: writer: %w", patterns.ErrNil)
	}
	h := &Handler{writer: w}
	if opts != nil {
		h.o = *opts
	}
	if h.o.Level == nil {
		h.o.Level = slog.LevelInfo
	}
	return h, nil
}

// Enabled is of slog.Handler.
func (h *Handler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.o.Level.Level()
}

// Handle is of slog.Handler. The end of ctx does not keep the record from being
// written, as slog asks for. Errors are those of [Writer.Write]; package slog ignores
// them, so [Options.OnError] and [Writer.Dropped] are the places to look at. A record
// that cannot be stored at all, such as one of more than 4 MiB, shows in neither: a
// handler around this one sees its [*RecordError].
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	attrs := make([]slog.Attr, 0, r.NumAttrs())
	r.Attrs(func(a slog.Attr) bool { attrs = append(attrs, a); return true })
	for _, s := range slices.Backward(h.scopes) {
		if s.group != "" {
			attrs = []slog.Attr{{Key: s.group, Value: slog.GroupValue(attrs...)}}
		} else {
			attrs = slices.Concat(s.attrs, attrs)
		}
	}
	if h.o.AddSource && r.PC != 0 {
		frame, _ := runtime.CallersFrames([]uintptr{r.PC}).Next()
		source := slog.Source{Function: frame.Function, File: frame.File, Line: frame.Line}
		attrs = slices.Concat([]slog.Attr{slog.Any(slog.SourceKey, &source)}, attrs)
	}
	record := Record{Time: r.Time, Type: r.Level.String(), Message: r.Message}
	if text := appendAttrs(nil, attrs); len(text) > len("{}") {
		record.Attrs = text
	}
	return h.writer.Write(context.WithoutCancel(ctx), record)
}

// WithAttrs is of slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	return h.with(scope{attrs: slices.Clone(attrs)})
}

// WithGroup is of slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.with(scope{group: name})
}

func (h *Handler) with(s scope) *Handler {
	c := *h
	c.scopes = append(slices.Clip(h.scopes), s)
	return &c
}
