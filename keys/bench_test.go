package keys_test

import (
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
)

func BenchmarkEscapeOfPlainText(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		keys.Escape("jonesj@contoso.com")
	}
}

func BenchmarkEscapeOfTextToChange(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		keys.Escape("home/jones_j/notes#1")
	}
}

func BenchmarkValidate(b *testing.B) {
	k := keys.Key{Partition: "Sales", Row: "email_jonesj@contoso.com"}
	b.ReportAllocs()
	for b.Loop() {
		assert.NoError(b, k.Validate())
	}
}

func BenchmarkCompare(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		keys.Compare("2516350751999999999_8f3a", "2516350751999999999_8f3b")
	}
}

func BenchmarkInvertedTicks(b *testing.B) {
	at := time.Unix(1767225600, 0)
	b.ReportAllocs()
	for b.Loop() {
		assert.NoError(b, assert.ErrorOf(keys.InvertedTicks(at)))
	}
}
