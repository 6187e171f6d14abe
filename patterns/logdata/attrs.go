package logdata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"time"
)

// appendAttrs appends the attributes as a JSON object. Groups without attributes are
// left out, and those without a name are part of what is around them.
func appendAttrs(dst []byte, attrs []slog.Attr) []byte {
	dst = append(dst, '{')
	dst, _ = appendMembers(dst, attrs, false)
	return append(dst, '}')
}

// appendMembers tells whether the object has members now.
func appendMembers(dst []byte, attrs []slog.Attr, some bool) ([]byte, bool) {
	for _, a := range attrs {
		a.Value = a.Value.Resolve()
		if a.Equal(slog.Attr{}) {
			continue
		}
		v := a.Value
		isGroup := v.Kind() == slog.KindGroup
		if isGroup && a.Key == "" {
			dst, some = appendMembers(dst, v.Group(), some)
			continue
		}
		before := len(dst)
		if some {
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
		some = true
	}
	return dst, some
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
		if math.IsNaN(f) || math.IsInf(f, 0) { // which JSON does not have
			return appendText(dst, strconv.FormatFloat(f, 'g', -1, 64))
		}
		text, _ := json.Marshal(f)
		return append(dst, text...)
	}
	return append(dst, anyText(v.Any())...)
}

// anyText encodes a value of any type. A method of it that fails, or panics, must not
// take the record with it.
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
