package azerr

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Describe returns a text for err that contains no key and no value. It keeps the text of
// an error that is known to contain neither: of the types and sentinels of this module, and
// of failed connections and ended contexts. Of a known error of the standard library or the
// SDK it keeps the parts that are free of values, such as the offset in a text. Any other
// error is described by its Go type and by the known errors that it wraps, because its text
// may quote what it is about.
func Describe(err error) string {
	if err == nil {
		return "failed"
	}
	if text, ok := describeKnown(err); ok {
		return text
	}
	var texts []string
	for _, wrapped := range unwrap(err) {
		texts = append(texts, Describe(wrapped))
	}
	if t := typeOf(err); t.PkgPath() != "fmt" && t.PkgPath() != "errors" || len(texts) == 0 {
		texts = append([]string{fmt.Sprintf("error of type %T", err)}, texts...)
	}
	return strings.Join(texts, ": ")
}

// unwrap returns the errors that err wraps.
func unwrap(err error) []error {
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		if wrapped := err.Unwrap(); wrapped != nil {
			return []error{wrapped}
		}
	case interface{ Unwrap() []error }:
		return slices.DeleteFunc(slices.Clone(err.Unwrap()), func(err error) bool { return err == nil })
	}
	return nil
}

// describeKnown returns the text of an error whose parts are known.
func describeKnown(err error) (text string, ok bool) {
	switch e := err.(type) {
	case *sealed:
		return e.text, true
	case *url.Error: // its address contains keys
		return Describe(e.Err), true
	case *net.OpError:
		return e.Op + " " + e.Net + ": " + Describe(e.Err), true
	case *net.DNSError:
		if e.IsNotFound {
			return "lookup: no such host", true
		}
		return "lookup: failed", true
	case *os.SyscallError:
		return e.Syscall + ": " + Describe(e.Err), true
	case *fs.PathError:
		return e.Op + ": " + Describe(e.Err), true
	case *json.SyntaxError:
		return fmt.Sprintf("JSON: offset %d: bad syntax", e.Offset), true
	case *json.UnmarshalTypeError:
		text := fmt.Sprintf("JSON: offset %d: no %v", e.Offset, e.Type)
		if e.Field != "" {
			text += fmt.Sprintf(" in field %q", e.Field)
		}
		return text, true
	case *json.MarshalerError:
		return fmt.Sprintf("JSON of %v: %s", e.Type, Describe(e.Err)), true
	case *json.UnsupportedTypeError:
		return fmt.Sprintf("JSON: unsupported type %v", e.Type), true
	case *json.UnsupportedValueError:
		return "JSON: unsupported value", true
	case *xml.SyntaxError:
		return fmt.Sprintf("XML: line %d: bad syntax", e.Line), true
	case *strconv.NumError:
		return e.Func + ": " + Describe(e.Err), true
	}
	if isKnown(err) {
		return err.Error(), true
	}
	return describeReply(err)
}

// responseError is the type of the SDK's error for a reply. It is found by its name, because the
// packages keys and query, which import this one, link nothing of the SDK.
const responseError = "github.com/Azure/azure-sdk-for-go/sdk/azcore/internal/exported.ResponseError"

// describeReply returns the status and the error code of a reply.
func describeReply(err error) (text string, ok bool) {
	v := reflect.ValueOf(err)
	if v.Kind() != reflect.Pointer || v.IsNil() || typeName(v.Type().Elem()) != responseError {
		return "", false
	}
	return fmt.Sprintf("%v %v", v.Elem().FieldByName("StatusCode"), v.Elem().FieldByName("ErrorCode")), true
}

// knownErrors are sentinels whose types do not identify them.
var knownErrors = []error{
	context.Canceled, context.DeadlineExceeded, os.ErrDeadlineExceeded,
	io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, io.ErrNoProgress, io.ErrShortWrite,
	net.ErrClosed, fs.ErrClosed, fs.ErrExist, fs.ErrInvalid, fs.ErrNotExist, fs.ErrPermission,
	strconv.ErrRange, strconv.ErrSyntax, errors.ErrUnsupported,
}

// knownTypes are types whose text contains neither keys nor values: it describes
// connections, certificates, sign-in, the operating system, an offset or a Go type.
var knownTypes = []string{
	"context.deadlineExceededError", "context.canceledError", "internal/poll.DeadlineExceededError", "internal/poll.errNetClosing",
	"syscall.Errno", "crypto/tls.AlertError", "crypto/tls.CertificateVerificationError", "crypto/tls.RecordHeaderError",
	"crypto/x509.UnknownAuthorityError", "crypto/x509.HostnameError", "crypto/x509.CertificateInvalidError", "crypto/x509.SystemRootsError",
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity.AuthenticationFailedError",
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity.credentialUnavailableError",
	"encoding/base64.CorruptInputError", "compress/flate.CorruptInputError",
	"runtime.errorString", "runtime.errorAddressString", "runtime.plainError", "runtime.TypeAssertionError", "runtime.PanicNilError",
}

// module is the import path of this module.
var module = path.Dir(path.Dir(reflect.TypeFor[sentinel]().PkgPath()))

// isKnown reports whether the text of err contains neither keys nor values. The types of
// this module keep that rule.
func isKnown(err error) bool {
	t := typeOf(err)
	if slices.Contains(knownTypes, typeName(t)) {
		return true
	}
	if in, ok := strings.CutPrefix(t.PkgPath(), module+"/"); ok {
		return !strings.HasSuffix(in, "_test") && !strings.HasPrefix(in, "examples/")
	}
	return slices.ContainsFunc(knownErrors, func(known error) bool { return err == known })
}

// typeOf returns the type of err, without its pointer.
func typeOf(err error) reflect.Type {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// typeName returns the name of t with the path of its package.
func typeName(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }
