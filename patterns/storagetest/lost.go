package storagetest

import "syscall"

// LostError is the error that the sender of a request receives if the request or its reply
// was lost. It matches syscall.ECONNRESET, like the error of a broken connection, and does
// not show whether the request was carried out. The SDK retries the request.
type LostError struct {
	Op string // the operation, such as "Table.Insert"
}

func (e *LostError) Error() string { return e.Op + ": the connection was lost before a reply arrived" }

// Unwrap returns syscall.ECONNRESET.
func (e *LostError) Unwrap() error { return syscall.ECONNRESET }
