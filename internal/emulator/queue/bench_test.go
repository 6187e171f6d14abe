package queue_test

import (
	"testing"

	"github.com/azpatterns/azpatterns/internal/emulator/restxml/restxmltest"
)

// BenchmarkPutGetDelete is three requests, on a queue that holds 10,000 other
// messages, all invisible.
func BenchmarkPutGetDelete(b *testing.B) {
	s := service(b)
	for range 10_000 {
		restxmltest.Send(b, s, "POST", "/queue1/messages?visibilitytimeout=1000", text("other"))
	}
	b.ReportAllocs()
	for b.Loop() {
		restxmltest.Send(b, s, "POST", "/queue1/messages", text("job"))
		a := restxmltest.Send(b, s, "GET", "/queue1/messages", "")
		restxmltest.Send(b, s, "DELETE", "/queue1/messages/"+element(a.Body, "MessageId")+"?popreceipt="+escape(element(a.Body, "PopReceipt")), "").Want(b, 204, "")
	}
}
