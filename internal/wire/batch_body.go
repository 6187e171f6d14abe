package wire

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"strings"
)

// The boundaries are chosen once per process. They cannot occur in a part: a boundary is at
// the start of a line, and neither JSON nor an escaped address nor a checked ETag contains
// a line break.
var (
	batchBoundary     = "batch_" + randomHex()
	changesetBoundary = "changeset_" + randomHex()
	batchContentType  = []string{"multipart/mixed; boundary=" + batchBoundary}

	batchHead = "--" + batchBoundary + "\r\nContent-Type: multipart/mixed; boundary=" + changesetBoundary + "\r\n\r\n"
	partHead  = "--" + changesetBoundary + "\r\nContent-Transfer-Encoding: binary\r\nContent-Type: application/http\r\n\r\n"
	batchEnd  = "--" + changesetBoundary + "--\r\n--" + batchBoundary + "--\r\n"
)

func randomHex() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// perOperation is the most bytes of a part without entity and keys: the two header blocks
// with their line ends, an ETag, and the table's address.
const perOperation = 500

func batchSize(writes []*Write) int {
	n := 512
	for _, w := range writes {
		n += BatchBytes(w)
	}
	return n
}

// BatchBytes returns at least the bytes that w adds to a transaction's body. It allows for
// a table address of 130 bytes, which is longer than any in Azure. The address of an insert
// contains no keys.
func BatchBytes(w *Write) int {
	n := perOperation + len(w.Body)
	if w.Kind != Insert {
		n += escapedLen(w.PartitionKey) + escapedLen(w.RowKey)
	}
	return n
}

// appendBatch appends the multipart body of a transaction: one changeset, in which each
// part is a complete HTTP request.
func appendBatch(dst []byte, table Address, writes []*Write) []byte {
	mergeMethod, mergeHeader := "PATCH ", ""
	if table.Cosmos() {
		// Cosmos DB does not support PATCH; aztables does the same.
		mergeMethod, mergeHeader = "POST ", "X-HTTP-Method: MERGE\r\n"
	}
	dst = append(dst, batchHead...)
	for _, w := range writes {
		dst = append(dst, partHead...)
		method, header := "", ""
		switch w.Kind {
		case Insert:
			method, header = "POST ", "Prefer: return-no-content\r\n"
		case InsertOrMerge, Merge:
			method, header = mergeMethod, mergeHeader
		case InsertOrReplace, Replace:
			method = "PUT "
		case Delete:
			method = "DELETE "
		}
		dst = append(dst, method...)
		if w.Kind == Insert {
			dst = append(dst, table.Base...)
		} else {
			dst = appendEntityAddress(dst, table.Base, w.PartitionKey, w.RowKey)
		}
		dst = append(dst, " HTTP/1.1\r\nAccept: application/json;odata=minimalmetadata\r\nDataServiceVersion: 3.0\r\n"...)
		dst = append(dst, header...)
		if w.Kind >= Merge {
			dst = append(dst, "If-Match: "...)
			dst = append(dst, w.ETag...)
			dst = append(dst, "\r\n"...)
		}
		if w.Kind != Delete {
			dst = append(dst, "Content-Type: application/json\r\n\r\n"...)
			dst = appendOneLine(dst, w.Body)
		} else {
			dst = append(dst, "\r\n"...)
		}
		dst = append(dst, "\r\n"...)
	}
	return append(dst, batchEnd...)
}

// appendOneLine appends JSON and escapes the line separators U+2028 and U+2029, because
// Azurite reads only the first line of a part's body.
func appendOneLine(dst, body []byte) []byte {
	for {
		i := bytes.Index(body, lineSeparator)
		if i < 0 || i+len(lineSeparator) == len(body) {
			return append(dst, body...)
		}
		dst = append(dst, body[:i]...)
		body = body[i+len(lineSeparator):]
		switch body[0] {
		case 0xa8:
			dst, body = append(dst, `\u2028`...), body[1:]
		case 0xa9:
			dst, body = append(dst, `\u2029`...), body[1:]
		default:
			dst = append(dst, lineSeparator...)
		}
	}
}

var lineSeparator = []byte("\xe2\x80") // the first bytes of U+2028 and U+2029

// appendEntityAddress appends Table(PartitionKey='…',RowKey='…'). Quotes in keys are
// doubled, then the keys are escaped as path segments.
func appendEntityAddress(dst []byte, base, pk, rk string) []byte {
	dst = append(dst, base...)
	dst = append(dst, "(PartitionKey='"...)
	dst = appendKey(dst, pk)
	dst = append(dst, "',RowKey='"...)
	dst = appendKey(dst, rk)
	return append(dst, "')"...)
}

func appendKey(dst []byte, key string) []byte {
	for i := 0; i < len(key); i++ {
		if !unreserved[key[i]] {
			return append(dst, url.PathEscape(strings.ReplaceAll(key, "'", "''"))...)
		}
	}
	return append(dst, key...)
}

// escapedLen returns at least the number of bytes that appendKey appends.
func escapedLen(key string) int {
	n := len(key)
	for i := 0; i < len(key); i++ {
		if b := key[i]; b == '\'' {
			n += len("%27%27") - 1
		} else if !unreserved[b] {
			n += len("%XX") - 1
		}
	}
	return n
}

// unreserved are the bytes of a key that are not escaped.
var unreserved = func() (t [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") {
		t[c] = true
	}
	return t
}()
