package target

import "testing"

// BenchmarkRead measures how long it takes to read a request.
func BenchmarkRead(b *testing.B) {
	const filter = "?%24filter=PartitionKey%20eq%20%27Sales_000123%27%20and%20RowKey%20ge%20%2700001000%27"
	const insert = `{"Age":3,"PartitionKey":"Sales_000123","RowKey":"00001234"}`
	for name, req := range map[string]*struct {
		method, url, content string
	}{
		"Get":    {"GET", "/Orders(PartitionKey='Sales_000123',RowKey='00001234')", ""},
		"Insert": {"POST", "/Orders", insert},
		"Query":  {"GET", "/Orders()" + filter, ""},
	} {
		b.Run(name, func(b *testing.B) {
			raw, r := request(req.method, service+req.url, req.content), NewRequest()
			b.ReportAllocs()
			for b.Loop() {
				r.Read(raw)
			}
		})
	}
}
