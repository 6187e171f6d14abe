package eventual

import "time"

// Received is when the message of an event was received: the order of deliveries, while events of concurrent ones are
// reported in any order.
func Received(e Event) time.Time { return e.received }
