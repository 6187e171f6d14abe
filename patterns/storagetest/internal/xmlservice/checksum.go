package xmlservice

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"hash/crc64"
	"net/http"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// Body returns the body as [request.Request.Body] does, but requires a declared length.
func (c *Call) Body(limit int64) ([]byte, *reply.Error) {
	if c.ContentLength < 0 {
		return nil, reply.MissingLength()
	}
	return c.Request.Body(limit)
}

// crcTable is the CRC-64 of the storage services (reflected polynomial of NVMe).
// https://learn.microsoft.com/rest/api/storageservices/put-blob, x-ms-content-crc64
var crcTable = crc64.MakeTable(0x9A6C9329AC4BC9B5)

// CRC64 returns the checksum of x-ms-content-crc64 over all parts in order: 8 bytes,
// low byte first, in base64.
func CRC64(parts ...[]byte) string {
	var sum uint64
	for _, p := range parts {
		sum = crc64.Update(sum, crcTable, p)
	}
	return base64.StdEncoding.EncodeToString(binary.LittleEndian.AppendUint64(nil, sum))
}

// MD5 returns the checksum of Content-MD5 over all parts in order, in base64.
func MD5(parts ...[]byte) string {
	h := md5.New()
	for _, p := range parts {
		h.Write(p) // cannot fail
	}
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// Verify checks body against the MD5 and the CRC-64 in the named request headers, if they
// are set. It sets the checksum in the reply: the MD5 if one was sent or the version has no other, otherwise the CRC-64.
func (c *Call) Verify(body []byte, md5Header, crcHeader string) *reply.Error {
	sentMD5, sentCRC := c.Header(md5Header), c.Header(crcHeader)
	if sentMD5 != "" && sentCRC != "" {
		return reply.New(http.StatusBadRequest, "BothCrc64AndMd5HeaderPresent", "Both x-ms-content-crc64 header and Content-MD5 header are present.").Because(md5Header + ": not together with " + crcHeader)
	}
	if sentMD5 != "" {
		if e := CheckMD5(sentMD5, body); e != nil {
			return e.Because(md5Header + ": not the MD5 of the body, 16 bytes in base64")
		}
		c.Set("Content-Md5", sentMD5)
		return nil
	}
	if c.Version < sinceCRC64 {
		c.Set("Content-Md5", MD5(body))
		return nil
	}
	crc := CRC64(body)
	if sentCRC != "" {
		raw, err := base64.StdEncoding.DecodeString(sentCRC)
		if err != nil || len(raw) != 8 {
			return reply.InvalidHeader(crcHeader, sentCRC, "8 bytes in base64")
		}
		if sentCRC != crc {
			return reply.New(http.StatusBadRequest, "Crc64Mismatch", "The CRC64 value specified in the request did not match with the CRC64 value calculated by the server.",
				"UserSpecifiedCrc", sentCRC, "ServerCalculatedCrc", crc).Because(crcHeader + ": not the CRC-64 of the body")
		}
	}
	c.Set("X-Ms-Content-Crc64", crc)
	return nil
}

// CheckMD5 compares the MD5 that a client sent with the MD5 of body.
func CheckMD5(sent string, body []byte) *reply.Error {
	raw, err := base64.StdEncoding.DecodeString(sent)
	if err != nil || len(raw) != md5.Size {
		return reply.New(http.StatusBadRequest, "InvalidMd5", "The MD5 value specified in the request is invalid. MD5 value must be 128 bits and base64 encoded.")
	}
	if sum := md5.Sum(body); !bytes.Equal(raw, sum[:]) {
		return reply.New(http.StatusBadRequest, "Md5Mismatch", "The MD5 value specified in the request did not match with the MD5 value calculated by the server.",
			"UserSpecifiedMd5", sent, "ServerCalculatedMd5", base64.StdEncoding.EncodeToString(sum[:]))
	}
	return nil
}
