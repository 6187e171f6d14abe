package logdata

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// Handler is a [slog.Handler] that writes to a [Writer]. The Type of a record is the
// level, such as "ERROR" or "INFO+2". Its Attrs are the attributes as a JSON object, with
// an object for each group and values encoded as by [slog.JSONHandler]. A slog record
// without a time gets the time of the write, see [Record.Arrived]. A Handler is safe for
// concurrent use.
type Handler struct {
	writer  *Writer
	options HandlerOptions
	scopes  []scope // outermost first
}

// HandlerOptions are the options of [NewHandler]. nil and the zero value mean the
// defaults.
type HandlerOptions struct {
	// Level is the lowest level that is written. Zero means [slog.LevelInfo].
	Level slog.Leveler

	// AddSource adds the attribute "source" with the function, file and line of the call.
	AddSource bool
}

// scope is the effect of one WithAttrs or, if group is set, of one WithGroup.
type scope struct {
	group string
	attrs []slog.Attr
}

// NewHandler returns a Handler that writes to w. Several Handlers may share a Writer. The
// caller closes the Writer after the last record. The error matches [patterns.ErrNil].
func NewHandler(w *Writer, opts *HandlerOptions) (*Handler, error) {
	if w == nil {
		return nil, fmt.Errorf("new log handler: writer: %w", patterns.ErrNil)
	}
	h := &Handler{writer: w}
	if opts != nil {
		h.options = *opts
	}
	if h.options.Level == nil {
		h.options.Level = slog.LevelInfo
	}
	return h, nil
}

// Enabled implements slog.Handler.
func (h *Handler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.options.Level.Level()
}

// Handle implements slog.Handler. It writes the record even if ctx has ended, as slog
// requires. It returns the errors of [Writer.Write], but package slog ignores them: use
// [WriterOptions.OnError] and [Writer.Dropped] to detect failures. Neither reports a
// record that cannot be stored, such as one of more than 4 MiB. A handler that wraps
// this one receives its [*RecordError].
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
	if h.options.AddSource && r.PC != 0 {
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

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	return h.with(scope{attrs: slices.Clone(attrs)})
}

// WithGroup implements slog.Handler.
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

// appendAttrs appends the attributes as a JSON object. It omits groups without
// attributes, and merges groups without a name into the enclosing object.
func appendAttrs(dst []byte, attrs []slog.Attr) []byte {
	dst = append(dst, '{')
	dst, _ = appendMembers(dst, attrs, false)
	return append(dst, '}')
}

// appendMembers appends the attributes as members of an object. nonEmpty states and then
// returns whether the object has members.
func appendMembers(dst []byte, attrs []slog.Attr, nonEmpty bool) ([]byte, bool) {
	for _, a := range attrs {
		a.Value = a.Value.Resolve()
		if a.Equal(slog.Attr{}) {
			continue
		}
		v := a.Value
		isGroup := v.Kind() == slog.KindGroup
		if isGroup && a.Key == "" {
			dst, nonEmpty = appendMembers(dst, v.Group(), nonEmpty)
			continue
		}
		before := len(dst)
		if nonEmpty {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, a.Key), ':')
		if isGroup {
			var has bool
			if dst, has = appendMembers(append(dst, '{'), v.Group(), false); !has {
				dst = dst[:before]
				continue
			}
			dst = append(dst, '}')
		} else {
			dst = appendValue(dst, v)
		}
		nonEmpty = true
	}
	return dst, nonEmpty
}

func appendValue(dst []byte, v slog.Value) []byte {
	switch v.Kind() {
	case slog.KindString:
		return appendText(dst, v.String())
	case slog.KindInt64:
		return strconv.AppendInt(dst, v.Int64(), 10)
	case slog.KindUint64:
		return strconv.AppendUint(dst, v.Uint64(), 10)
	case slog.KindBool:
		return strconv.AppendBool(dst, v.Bool())
	case slog.KindDuration:
		return strconv.AppendInt(dst, int64(v.Duration()), 10)
	case slog.KindTime:
		return appendText(dst, v.Time().Format(time.RFC3339Nano))
	case slog.KindFloat64:
		f := v.Float64()
		if math.IsNaN(f) || math.IsInf(f, 0) { // JSON has no such number
			return appendText(dst, strconv.FormatFloat(f, 'g', -1, 64))
		}
		text, _ := json.Marshal(f)
		return append(dst, text...)
	}
	return append(dst, anyText(v.Any())...)
}

// anyText encodes a value of any type. If one of its methods fails or panics, the error
// text is stored instead, so that the record is not lost.
func anyText(v any) (text []byte) {
	defer func() {
		if p := recover(); p != nil {
			text = appendText(nil, fmt.Sprintf("!PANIC: %v", p))
		}
	}()
	_, isJSON := v.(json.Marshaler)
	if err, ok := v.(error); ok && !isJSON {
		return appendText(nil, err.Error())
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return appendText(nil, "!ERROR: "+err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
