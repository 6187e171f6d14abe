package eventual

import (
	"bytes"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/azpatterns/azpatterns/internal/assert"
)

func signedQueue(t testing.TB, name string) queue {
	t.Helper()
	client := assert.Must(azqueue.NewQueueClientWithNoCredential("https://acct.queue.core.windows.net/"+name+"?sig=x", nil))(t)
	return queue{client, [][]byte{bytes.Repeat([]byte("k"), 32)}}
}

// The form of a signed message does not change: all programs of a queue need the same.
func TestSignatureDoesNotChange(t *testing.T) {
	const text = `{"azp":1,"id":"op","kind":"k","at":"2026-01-02T03:04:05Z","body":1}`
	const want = `{"azp":1,"mac":"kWR39cwDxd5QEmgNEyyJhMiJ3zD0Dvb-uXUeMFKcFbY","id":"op","kind":"k","at":"2026-01-02T03:04:05Z","body":1}`
	q := signedQueue(t, "jobs")
	got := q.sign([]byte(text))
	assert.Equal(t, string(got), want, "signed", got)
	assert.Equal(t, q.verify(got), nil)
	assert.WantError(t, signedQueue(t, "jobs2").verify(got), ErrBadMessage, "another queue")
}

func FuzzVerify(f *testing.F) {
	q := signedQueue(f, "jobs")
	f.Add(q.sign([]byte(`{"azp":1,"id":"op"}`)))
	f.Add([]byte(`{"azp":1,"mac":"","id":"op"}`))
	f.Add([]byte(`{"azp":1,"mac":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","id":"op"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		mac, unsigned, ok := cutSignature(text)
		if ok && q.verify(text) == nil && !bytes.Equal(q.sign(unsigned), text) {
			t.Errorf("%q with %x is accepted, but sign does not return it", text, mac)
		}
		if !ok && q.verify(text) == nil {
			t.Errorf("%q is accepted without a signature", text)
		}
		if signed := q.sign(text); bytes.HasPrefix(text, signedPrefix) && q.verify(signed) != nil {
			t.Errorf("%q is refused", signed)
		}
	})
}
