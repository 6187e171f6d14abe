package keys

import (
	"reflect"
	"strings"
	"time"
)

// append appends the text of this field of the struct v. v is addressable, so a time
// or a UUID is read without a copy.
func (f *field) append(dst []byte, v reflect.Value) ([]byte, error) {
	fv := v.Field(f.index)
	switch f.form {
	case escaped, folded:
		s := fv.String()
		if err := checkUTF8(f.part, s); err != nil {
			return dst, err
		}
		if f.form == folded {
			s = strings.ToLower(s)
		}
		return appendEscape(dst, s), nil
	case digits:
		if isUnsigned(f.kind) {
			return appendDigits(dst, f.part, fv.Uint(), f.width)
		}
		n := fv.Int()
		if n < 0 {
			return dst, f.outOfRange("the number is negative and the tag is digits")
		}
		return appendDigits(dst, f.part, uint64(n), f.width)
	case signed:
		return appendInt64(dst, fv.Int()), nil
	case float:
		return appendFloat64(dst, f.part, fv.Float())
	case boolean:
		if fv.Bool() {
			return append(dst, '1'), nil
		}
		return append(dst, '0'), nil
	case ticks, invertedTicks:
		return appendTime(dst, f.part, *fv.Addr().Interface().(*time.Time), f.form == invertedTicks)
	case uuidBytes:
		return appendUUID(dst, fv.Bytes()), nil
	default: // uuidText
		s := fv.String()
		if _, err := parseUUID(f.part, s); err != nil {
			return dst, err
		}
		return append(dst, s...), nil
	}
}

// parse sets this field of the struct v to the value of the text s.
func (f *field) parse(v reflect.Value, s string) error {
	fv := v.Field(f.index)
	switch f.form {
	case escaped, folded:
		return f.parseText(fv, s)
	case digits:
		u, err := parseFixed(f.part, s, f.width)
		if err != nil {
			return err
		}
		return f.setDigits(fv, u)
	case signed:
		n, err := parseInt64(f.part, s)
		if err != nil {
			return err
		}
		return f.setInt(fv, n)
	case float:
		x, err := parseFloat64(f.part, s)
		if err != nil {
			return err
		}
		return f.setFloat(fv, x)
	case boolean:
		if s != "0" && s != "1" {
			return &Error{Part: f.part, Reason: Malformed, Offset: -1, Detail: "want 0 or 1"}
		}
		fv.SetBool(s == "1")
	case ticks, invertedTicks:
		t, err := parseTicks(f.part, s, f.form == invertedTicks)
		if err != nil {
			return err
		}
		*fv.Addr().Interface().(*time.Time) = t
	default: // uuidBytes, uuidText
		return f.parseUUID(fv, s)
	}
	return nil
}

// parseText sets fv to the text that s escapes.
func (f *field) parseText(fv reflect.Value, s string) error {
	text, err := unescape(f.part, s)
	if err != nil {
		return err
	}
	if f.form == folded && strings.ToLower(text) != text {
		return &Error{Part: f.part, Reason: Malformed, Offset: -1, Detail: "not in lower case"}
	}
	fv.SetString(text)
	return nil
}

// setDigits sets fv, which may be signed, to the unsigned number u.
func (f *field) setDigits(fv reflect.Value, u uint64) error {
	if !isUnsigned(f.kind) {
		if int64(u) < 0 {
			return f.outOfRange(overflows)
		}
		return f.setInt(fv, int64(u))
	}
	if fv.OverflowUint(u) {
		return f.outOfRange(overflows)
	}
	fv.SetUint(u)
	return nil
}

const overflows = "the value overflows the Go type"

func (f *field) setInt(fv reflect.Value, n int64) error {
	if fv.OverflowInt(n) {
		return f.outOfRange(overflows)
	}
	fv.SetInt(n)
	return nil
}

func (f *field) setFloat(fv reflect.Value, x float64) error {
	if f.kind == reflect.Float32 && float64(float32(x)) != x {
		return f.outOfRange("the value is not a float32")
	}
	fv.SetFloat(x)
	return nil
}

// parseUUID sets fv, text or 16 bytes, to the UUID s.
func (f *field) parseUUID(fv reflect.Value, s string) error {
	u, err := parseUUID(f.part, s)
	if err != nil {
		return err
	}
	if f.form == uuidText {
		fv.SetString(s)
	} else {
		copy(fv.Bytes(), u[:])
	}
	return nil
}

func (f *field) outOfRange(detail string) *Error {
	return &Error{Part: f.part, Reason: OutOfRange, Offset: -1, Detail: detail}
}
