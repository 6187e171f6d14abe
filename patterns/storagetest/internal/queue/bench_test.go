package queue_test

import (
	"testing"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/servicetest"
)

// BenchmarkPutGetDelete makes three requests, on a queue with 10,000 other, invisible
// messages.
func BenchmarkPutGetDelete(b *testing.B) {
	s := service(b)
	for range 10_000 {
		servicetest.Send(b, s, "POST", "/queue1/messages?visibilitytimeout=1000", text("other"))
	}
	b.ReportAllocs()
	for b.Loop() {
		servicetest.Send(b, s, "POST", "/queue1/messages", text("job"))
		a := servicetest.Send(b, s, "GET", "/queue1/messages", "")
		servicetest.Send(b, s, "DELETE", "/queue1/messages/"+element(a.Body, "MessageId")+"?popreceipt="+escape(element(a.Body, "PopReceipt")), "").Want(b, 204, "")
	}
}
