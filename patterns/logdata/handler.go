package logdata

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"slices"
	"strconv"

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
	h := &Handler{writer: w, options: *cmp.Or(opts, &HandlerOptions{})}
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
	e := encodings.Get().(*encoding)
	defer e.release()
	text := append(e.attrs[:0], '{')
	if h.options.AddSource && r.PC != 0 {
		frame, _ := runtime.CallersFrames([]uintptr{r.PC}).Next()
		source := slog.Source{Function: frame.Function, File: frame.File, Line: frame.Line}
		text = appendMember(text, slog.Any(slog.SourceKey, &source))
	}
	text = appendScopes(text, h.scopes, &r)
	e.attrs = append(text, '}')
	e.record = Record{Time: r.Time, Type: r.Level.String(), Message: r.Message}
	if len(text) > 1 {
		e.record.Attrs = e.attrs
	}
	return h.writer.write(e, func() context.Context { return context.WithoutCancel(ctx) })
}

// appendScopes appends the attributes of the scopes and of the record as members of an
// object. It omits groups without attributes, and merges groups without a name into the
// enclosing object.
func appendScopes(dst []byte, scopes []scope, r *slog.Record) []byte {
	for i, s := range scopes {
		if s.group != "" {
			return appendGroup(dst, s.group, func(dst []byte) []byte { return appendScopes(dst, scopes[i+1:], r) })
		}
		dst = appendMembers(dst, s.attrs)
	}
	r.Attrs(func(a slog.Attr) bool {
		dst = appendMember(dst, a)
		return true
	})
	return dst
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

// appendMembers appends the attributes as members of an object, like appendScopes.
func appendMembers(dst []byte, attrs []slog.Attr) []byte {
	for _, a := range attrs {
		dst = appendMember(dst, a)
	}
	return dst
}

func appendMember(dst []byte, a slog.Attr) []byte {
	a.Value = a.Value.Resolve()
	switch {
	case a.Key == "" && a.Equal(slog.Attr{}):
		return dst
	case a.Value.Kind() != slog.KindGroup:
		return appendValue(appendName(dst, a.Key), a.Value)
	case a.Key == "":
		return appendMembers(dst, a.Value.Group())
	}
	return appendGroup(dst, a.Key, func(dst []byte) []byte { return appendMembers(dst, a.Value.Group()) })
}

// appendName appends the name of a member, and a comma if it is not the first of its object: no value ends with a brace
// that opens an object.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(appendText(dst, name), ':')
}

// appendGroup appends a group with what members appends; nothing if that is nothing.
func appendGroup(dst []byte, name string, members func(dst []byte) []byte) []byte {
	begun := append(appendName(dst, name), '{')
	all := members(begun)
	if len(all) == len(begun) {
		return dst
	}
	return append(all, '}')
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
		return append(appendTime(append(dst, '"'), v.Time()), '"')
	case slog.KindFloat64:
		return appendFloat(dst, v.Float64())
	}
	return append(dst, anyText(v.Any())...)
}

// appendFloat appends f like json.Marshal, and as a string if JSON has no such number.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return appendText(dst, strconv.FormatFloat(f, 'g', -1, 64))
	}
	if abs := math.Abs(f); abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	text, _ := json.Marshal(f) // with an exponent
	return append(dst, text...)
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
	return bytes.ToValidUTF8(bytes.TrimRight(b.Bytes(), "\n"), []byte("\ufffd"))
}
