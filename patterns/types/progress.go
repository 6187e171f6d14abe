package types

// Progress counts what a call that makes many requests has done so far, and at the end what it
// has done. The documentation of the call states what it finds, and what each count means. A
// count that it does not mention is zero.
type Progress struct {
	Found   int // rows, blobs, tables or operations that the call has met, and for which it is made
	Done    int // of these, those that are as the call is to make them; after a dry run, those that it would have changed
	Skipped int // of these, those that were left on purpose
	Failed  int // of these, those that could not be processed, or whose outcome is unknown

	Requests int   // requests made, without the retries of the SDK
	Bytes    int64 // size of the blobs that Done counts

	// Cursor continues the call in another one after all that is counted, or before some of
	// it, which is then counted again. "" is the beginning and, if the call has ended without
	// an error, the end. It is opaque and safe in a URL.
	Cursor string
}
