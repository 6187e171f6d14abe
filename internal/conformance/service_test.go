package conformance

import "testing"

func TestTableService(t *testing.T) {
	script{
		service: tables,
		open:    step{"POST /Tables", `{"TableName":"{T}"}`, "", "201"},
		close:   step{"DELETE /Tables('{T}')", "", "", "204"},
	}.onBoth(t)
}

func TestQueueService(t *testing.T) {
	script{
		service: queues,
		open:    step{"PUT /{Q}", "", "", "201"},
		close:   step{"DELETE /{Q}", "", "", "204"},
	}.onBoth(t)
}

func TestBlobService(t *testing.T) {
	script{
		service: blobs,
		open:    step{"PUT /{C}?restype=container", "", "", "201"},
		close:   step{"DELETE /{C}?restype=container", "", "", "202"},
	}.onBoth(t)
}
